// A broker takes part: the switch, a relay that publishes, and consumers that report. The broker itself is what the
// rows say: delivered by a relay, and handled by nobody yet.
#include "tests/interleaving/world.hpp"

namespace sluice::test {
namespace {

// When the switch was seen, and before anything is read.
const std::string kSeen = "perform set_config('synchronous_commit', 'off', true);\n\n    if p_due then";
const std::string kSeenAndHeld =
    "perform pg_advisory_lock_shared(78, (p_worker like '%/relay:%')::int), "
    "pg_advisory_unlock_shared(78, (p_worker like '%/relay:%')::int);\n" +
    kSeen;

std::string relay_of(const std::string& session) { return session + "/relay:nats/0"; }

}  // namespace

void World::relay(bool relayed) {
  if (relayed && !relay_) mutate("outbox_claim", {{kSeen, kSeenAndHeld}});
  relay_ = relayed;
}

Step World::turn(const std::string& who, const std::string& state) {
  const std::string broker = state == "off" ? "" : "nats";
  return sql("turn " + state, who,
             "select core.relay_switch('" + state + "', '" + broker + "', 'tester', 'sql', 'for the test')");
}

std::string World::switch_state(Session& session) {
  const auto answer = sql_of(session).run("select value from core.settings where key = 'relay'");
  if (!answer.ok()) throw std::runtime_error(answer.error);
  return answer.rows.front().front().value_or("");
}

Step World::turn_off_when_drained(const std::string& who) {
  return step("turn off when drained", who, [this, who](Session& session) {
    if (switch_state(session) != "draining nats") return;
    const std::string number = std::to_string(generation_);
    const auto left =
        sql_of(session).run("select (select count(*) from explorer.in_broker where generation = " + number +
                            ") + (select count(*) from core.outbox where status = 'in_flight' and claimed_by like "
                            "'%/relay:%' and generation = " +
                            number + ")");
    if (!left.ok()) throw std::runtime_error(left.error);
    if (left.rows.front().front() == "0") turn(who, "off").run();
  });
}

Step World::relay_claim(const std::string& who) {
  return step("relay", who, [this](Session& session) {
    if (switch_state(session) != "on nats") return;
    const std::set<std::string> open = open_ones();
    for (const auto& event : value_of(store_of(session).claim(request(relay_of(session.name), 1, {})), "claim"))
      claimed(session, event.envelope.idempotency_key(), event.claim, open);
    if (session.held.empty() || switch_state(session) == "on nats") return;
    const Held held = std::exchange(session.held, {});
    settled(held, value_of(store_of(session).settle(items(held, End::released)), "settle").fenced, End::released);
  });
}

Step World::consume(const std::string& who) {
  return step("consume", who, [this](Session& session) {
    must(session,
         "insert into core.event_handled (handler_name, idempotency_key, event_id) select 'x.all', idempotency_key || "
         "'@' || "
         "generation, id from explorer.in_broker where generation = " +
             std::to_string(generation_) + " on conflict do nothing");
  });
}

Step World::hold_claims(const std::string& who, Whose whose) {
  const std::string which = whose == Whose::relays ? "1" : "0";
  return step(whose == Whose::relays ? "hold claims of relays" : "hold claims", who, [this, which](Session& session) {
    session.in_transaction = true;
    must(session, "begin; select pg_advisory_xact_lock(78, " + which + ")");
  });
}

Step World::report(const std::string& who, const std::string& event) {
  return step("report of " + event, who, [this, event](Session& session) {
    // As the message has it, and what is certain when the report is written: it may come later only.
    const auto row = [&] {
      auto answer = sql_of(session).run(
          "select id, core.last_cycle(failure_history), status in ('delivered', 'failed') from core.outbox where "
          "generation = " +
          std::to_string(generation_) + " and idempotency_key = '" + event + "'");
      if (!answer.ok()) throw std::runtime_error(answer.error);
      return answer.rows.front();
    };
    const auto before = row();
    store::ConsumerReport report;
    report.event_id = *Uuid::parse(*before[0]);
    report.replay = std::stoll(*before[1]);
    report.progress.handler_name = "x." + session.name;
    report.progress.attempts = 1;
    report.progress.out_of_attempts = true;
    report.progress.last_error = "Test: no";
    report.progress.error_class = "Test";
    report.progress.fingerprint = "test";
    const auto answer = value_of(store_of(session).report(std::span{&report, 1}), "report").front();
    const bool replayed = row()[1] != before[1];
    const std::scoped_lock lock{mutex_};
    if (answer == store::Reported::done && before[1] == "0") notes_[event].reported_by.insert("x." + session.name);
    if (replayed) return;
    if (answer == store::Reported::stale) broken_ = event + " was not replayed, and a report of it was taken for stale";
    if (answer == store::Reported::early && before[2] == "t")
      broken_ = event + " was settled, and a report of it came early";
  });
}

// A report that was written is on the row: it has failed, and the handler is told of, until a replay.
std::string World::lost_report() {
  for (const auto& [event, note] : notes_) {
    for (const std::string& handler : note.reported_by) {
      const bool there =
          !control_
               .must(
                   "select from core.outbox o where o.generation = " + std::to_string(generation_) +
                   " and o.idempotency_key = '" + event +
                   "' and (core.last_cycle(o.failure_history) > 0 or o.status = 'failed' and o.progress::text like '%" +
                   handler + "%')")
               .rows.empty();
      if (!there) return "the report of " + handler + " on " + event + " is lost";
    }
  }
  return {};
}

}  // namespace sluice::test
