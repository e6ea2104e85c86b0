#include "tests/interleaving/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "store/postgres/postgres_store.hpp"
#include "store/postgres/route_pattern.hpp"

namespace sluice::test {
namespace {

std::string application(const std::string& session) { return "inter_" + session; }

std::vector<Interest> interests_of(const std::string& pattern) {
  if (pattern.empty()) return {};
  return {Interest{.event_type = pattern}};
}

std::string sql_array(const std::vector<std::string>& texts) {
  if (texts.empty()) return "null";
  std::string array = "array[";
  for (const std::string& text : texts) array += (array.size() > 6 ? ",'" : "'") + text + "'";
  return array + "]";
}

template <class T>
T value_of(Result<T> result, const char* what) {
  if (!result) throw std::runtime_error(std::string{what} + ": " + result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

// Functions, because their plans are kept. What must hold after every step, and what must not be there in the end.
constexpr const char* kJudge = R"(
create schema explorer;
create function explorer.objection(p_generation bigint) returns text
language plpgsql set plan_cache_mode = force_generic_plan set jit = off as $$
begin
    return coalesce(
        (select 'two of one key are in flight: ' || string_agg(o.idempotency_key, ', ') from core.outbox o
         where o.generation = p_generation and o.status = 'in_flight' and o.ordering_key is not null
         group by o.ordering_key having count(*) > 1 limit 1),
        (select 'the low mark of group ' || c.group_key || ' has passed ' || o.idempotency_key
         from core.outbox o join core.claim_cursors c on o.generation = c.generation and o.seq <= c.low
         where o.generation = p_generation and o.status = 'pending' and o.retry_after is null and o.deleted_at is null
           and (c.interests is null or core.outbox_route(o) like any (c.interests)) limit 1),
        (select 'the floor of the keys has passed ' || o.idempotency_key from core.outbox o
         where o.generation = p_generation and o.ordering_key is not null
           and o.seq <= (select c.low from core.claim_cursors c where c.group_key = '')
           and o.status = 'pending' and o.retry_after is null and o.deleted_at is null and core.outbox_subscribed(o) limit 1));
end $$;
create function explorer.leftover(p_generation bigint, p_claims boolean) returns text
language plpgsql set plan_cache_mode = force_generic_plan set jit = off as $$
begin
    return coalesce(
        (select 'left ' || o.status || ': ' || o.idempotency_key || coalesce(', retry_after in ' || (o.retry_after - now()), '')
         from core.outbox o
         where o.generation = p_generation and o.status in ('pending', 'in_flight') and core.outbox_subscribed(o) limit 1),
        (select 'key still held: ' || k.ordering_key from core.keys_in_flight k limit 1),
        (select 'claim still there: ' || c.batch from core.claims c where p_claims and c.generation = p_generation limit 1));
end $$;
)";

}  // namespace

World::World() { control_.must(kJudge); }

// Setting up ---------------------------------------------------------------------------------------------------------

void World::renew(const std::map<std::string, std::string>& subscriptions) {
  ++generation_;
  notes_.clear();
  broken_.clear();
  names_.clear();
  crashed_ = false;
  by_sql_ = false;
  subscriptions_ = subscriptions;
  for (auto& [name, session] : sessions_) {
    if (session.in_transaction && !session.crashed) session.sql->run("rollback");
    if (session.crashed) session.sql.reset();
    session.crashed = false;
    session.in_transaction = false;
    session.effect.reset();
    session.publishing.clear();
    session.held.clear();
    session.settling.clear();
  }
  const std::string number = std::to_string(generation_);
  std::string text = "insert into core.deployments (generation, state) values (" + number + ", 'live');";
  for (const auto& [handler, pattern] : subscriptions)
    text += "insert into core.subscriptions (generation, handler_name, event_types) values (" + number + ", '" +
            handler + "', '{" + pattern + "}');";
  // A floor that has to be walked again is as good as one that stands where the last order left it.
  if (generation_ % 2 == 0)
    text += "update core.claim_cursors set low = 0, mark = 0, mark_xid = 0 where group_key = '';";
  control_.must(text);
}

void World::mutate(const std::string& function, const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string text =
      control_
          .must(
              "select pg_get_functiondef(p.oid) from pg_proc p where p.pronamespace = 'core'::regnamespace "
              "and p.proname = '" +
              function + "'")
          .value();
  for (const auto& [from, to] : parts) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << function << " no longer has: " << from;
    text.replace(at, from.size(), to);
  }
  control_.must(text);
}

World::Session& World::session(const std::string& name) {
  Session& session = sessions_[name];
  session.name = name;
  return session;
}

SqlSession& World::sql_of(Session& session) {
  if (!session.sql) {
    session.sql = std::make_unique<SqlSession>(database_.url() + "?application_name=" + application(session.name));
  }
  return *session.sql;
}

store::Store& World::store_of(Session& session) {
  if (!session.store) {
    store::PostgresOptions options;
    options.dsn = database_.url();
    options.max_connections = 2;
    options.sweep_interval = {};
    if (dear_) options.dear_look = std::chrono::milliseconds{-1};
    options.application_name = application(session.name);
    session.store = value_of(store::open_postgres(options), "open");
  }
  return *session.store;
}

std::string World::group(const std::string& pattern) const {
  std::string key = std::to_string(generation_);
  for (const std::string& route : store::route_patterns(interests_of(pattern))) key += '|' + route;
  return key;
}

std::string World::key_of(const Event& event) const {
  return event.key.empty() ? std::string{} : event.key + "@" + std::to_string(generation_);
}

store::ClaimRequest World::request(const std::string& worker, int limit, const std::string& pattern) const {
  return {.generation = generation_, .worker = worker, .limit = limit, .interests = interests_of(pattern)};
}

// Steps --------------------------------------------------------------------------------------------------------------

// A session that has crashed does nothing more.
Step World::step(std::string name, const std::string& who, std::function<void(Session&)> run) {
  Session& one = session(who);
  return {std::move(name), [&one, run = std::move(run)] {
            if (one.crashed) return;
            try {
              run(one);
            } catch (const std::exception&) {
              if (!one.crashed) throw;
            }
          }};
}

void World::must(Session& session, const std::string& text) {
  const auto answer = sql_of(session).run(text);
  if (!answer.ok()) throw std::runtime_error(answer.error + " in: " + text);
}

Step World::sql(const std::string& name, const std::string& who, const std::string& text) {
  return step(name, who, [this, text](Session& session) { must(session, text); });
}

std::string World::insert(Session& session, const Event& event) {
  {
    const std::scoped_lock lock{mutex_};
    notes_[event.name] = {.key = key_of(event), .type = event.type, .began = ++tick_};
  }
  session.publishing.push_back(event.name);
  return "insert into core.outbox (event_type, source, generation, idempotency_key, ordering_key) values ('" +
         event.type + "', 'tests', " + std::to_string(generation_) + ", '" + event.name + "', nullif('" +
         key_of(event) + "', ''))";
}

void World::committed(Session& session) {
  const std::scoped_lock lock{mutex_};
  for (const std::string& name : session.publishing) {
    notes_[name].committed = ++tick_;
    notes_[name].open = true;
  }
  session.publishing.clear();
  session.in_transaction = false;
  if (!session.withdrawing.empty()) subscriptions_.erase(std::exchange(session.withdrawing, {}));
}

Step World::publish(const std::string& who, const Event& event) {
  return step("publish " + event.name, who, [this, event](Session& session) {
    must(session, insert(session, event));
    committed(session);
  });
}

Step World::publish_begun(const std::string& who, const Event& event) {
  return step("begin, publish " + event.name, who, [this, event](Session& session) {
    session.in_transaction = true;
    must(session, "begin; " + insert(session, event));
  });
}

Step World::commit(const std::string& who) {
  return step("commit", who, [this](Session& session) {
    must(session, "commit");
    committed(session);
  });
}

Step World::rollback(const std::string& who) {
  return step("rollback", who, [this](Session& session) {
    must(session, "rollback");
    session.publishing.clear();
    session.in_transaction = false;
  });
}

// Those that a later event of their key has to wait for.
std::set<std::string> World::open_ones() {
  const std::scoped_lock lock{mutex_};
  std::set<std::string> open;
  for (const auto& [name, note] : notes_) {
    const bool wanted = std::any_of(subscriptions_.begin(), subscriptions_.end(), [&](const auto& subscription) {
      return Interest{.event_type = subscription.second}.matches(
          {.event_type = note.type, .target = {}, .channel = "c"});
    });
    if (note.open && wanted) open.insert(name);
  }
  return open;
}

void World::claimed(Session& session, const std::string& name, const store::ClaimRef& claim,
                    const std::set<std::string>& open_before) {
  const std::set<std::string> open_now = open_ones();
  const std::scoped_lock lock{mutex_};
  session.held[name] = claim;
  names_[claim.event_id] = name;
  Note& note = notes_[name];
  ++note.claims;
  for (const auto& [earlier, other] : notes_) {
    if (!note.key.empty() && earlier != name && other.key == note.key && other.committed > 0 &&
        other.committed < note.began && open_before.contains(earlier) && open_now.contains(earlier))
      broken_ = name + " was claimed before " + earlier + ", the earlier one of its key";
  }
}

Step World::claim(const std::string& who, int limit, const std::string& pattern) {
  return step("claim " + std::to_string(limit) + " " + pattern, who, [this, limit, pattern](Session& session) {
    const std::set<std::string> open = open_ones();
    for (const auto& event : value_of(store_of(session).claim(request(session.name, limit, pattern)), "claim"))
      claimed(session, event.envelope.idempotency_key(), event.claim, open);
  });
}

Step World::claim_begun(const std::string& who, int limit) {
  return step("begin, claim " + std::to_string(limit), who, [this, limit](Session& session) {
    const std::set<std::string> open = open_ones();
    session.in_transaction = true;
    by_sql_ = true;
    must(session, "begin");
    const auto answer =
        sql_of(session).run("select idempotency_key, id, claim_seq, batch from core.outbox_claim(" +
                            std::to_string(generation_) + ", '" + session.name + "', " + std::to_string(limit) +
                            ", '5 min', 0, null, null, null, null, true) where id is not null");
    if (!answer.ok()) throw std::runtime_error(answer.error);
    for (const auto& row : answer.rows)
      claimed(session, *row[0],
              {.event_id = *Uuid::parse(*row[1]), .claim_seq = std::stoll(*row[2]), .batch = std::stoll(*row[3])},
              open);
  });
}

std::vector<store::SettleItem> World::items(const Held& held, End end) {
  std::vector<store::SettleItem> items;
  for (const auto& [name, claim] : held) {
    Settlement settlement;
    if (end != End::delivered) {
      settlement = {.next = end == End::retry ? Status::pending : Status::failed,
                    .cause = end == End::retry ? Cause::retry : Cause::fail,
                    .counts_attempt = true,
                    .records_error = true,
                    .delay = std::chrono::seconds{1},
                    .last_error = "Test: no",
                    .error_class = "Test",
                    .fingerprint = "test"};
    }
    items.push_back({.claim = claim, .settlement = settlement, .handled_by = {}, .idempotency_key = {}});
  }
  return items;
}

void World::settled(const Held& held, const std::vector<Uuid>& fenced, End end) {
  const std::scoped_lock lock{mutex_};
  for (const auto& [name, claim] : held) {
    if (std::find(fenced.begin(), fenced.end(), claim.event_id) != fenced.end()) continue;
    Note& note = notes_[name];
    if (end == End::retry) {
      ++note.most_claims;
      continue;
    }
    note.open = false;
    if (end == End::delivered && ++note.deliveries > 1) broken_ = name + " was delivered twice";
  }
}

Step World::settle(const std::string& who, End end) {
  return step(end == End::delivered ? "settle"
              : end == End::retry   ? "settle: retry"
                                    : "settle: failed",
              who, [this, end](Session& session) {
                const Held held = std::exchange(session.held, {});
                if (held.empty()) return;
                settled(held, value_of(store_of(session).settle(items(held, end)), "settle").fenced, end);
              });
}

Step World::settle_begun(const std::string& who, End end) {
  return step("settle begun", who, [this, end](Session& session) {
    session.settling = std::exchange(session.held, {});
    if (session.settling.empty()) return;
    session.end = end;
    session.effect = value_of(store_of(session).begin_effect(std::chrono::minutes{5}), "begin");
    session.fenced = value_of(session.effect->settle(items(session.settling, end), std::nullopt), "settle").fenced;
  });
}

Step World::settle_committed(const std::string& who) {
  return step("settle committed", who, [this](Session& session) {
    if (!session.effect) return;
    value_of(session.effect->commit(), "commit");
    session.effect.reset();
    settled(std::exchange(session.settling, {}), session.fenced, session.end);
  });
}

std::string World::advance(const std::string& pattern) const {
  return "select * from core.claim_cursor_advance('" + group(pattern) + "', " + std::to_string(generation_) + ", " +
         sql_array(store::route_patterns(interests_of(pattern))) + ")";
}

Step World::look(const std::string& who, const std::string& pattern) {
  return step("look " + pattern, who, [this, pattern](Session& session) { must(session, advance(pattern)); });
}

Step World::look_begun(const std::string& who, const std::string& pattern) {
  return step("begin, look " + pattern, who, [this, pattern](Session& session) {
    session.in_transaction = true;
    must(session, "begin; " + advance(pattern));
  });
}

Step World::glance(const std::string& who) {
  return step("glance", who, [this](Session& session) {
    must(session,
         "select set_config('glance.first_open', coalesce((select min(seq)::text from core.outbox where status = "
         "'pending' "
         "and retry_after is null and generation = " +
             std::to_string(generation_) + "), ''), false)");
  });
}

Step World::expire(const std::string& who) {
  return step("expire", who, [this](Session& session) {
    must(session,
         "update core.claims set ttl = '0', expires_at = now() where generation = " + std::to_string(generation_));
  });
}

Step World::reap(const std::string& who) {
  return step("reap", who, [this](Session& session) { reap_now(session); });
}

void World::reap_now(Session& session) {
  Held expired;
  for (const auto& claim : value_of(store_of(session).expired_claims(100), "expired")) {
    const std::scoped_lock lock{mutex_};
    const auto name = names_.find(claim.claim.event_id);
    if (name == names_.end()) throw std::runtime_error("an unknown claim expired");
    expired[name->second] = claim.claim;
  }
  if (expired.empty()) return;
  settled(expired, value_of(store_of(session).settle(items(expired, End::retry)), "settle").fenced, End::retry);
}

Step World::replay(const std::string& who, const std::string& event) {
  return step("replay " + event, who, [this, event](Session& session) {
    const std::string number = std::to_string(generation_);
    const auto answer = sql_of(session).run("select core.outbox_replay(id, " + number +
                                            ", 'tester') from core.outbox where generation = " + number +
                                            " and idempotency_key = '" + event + "'");
    if (answer.sqlstate == "SL409") return;  // it has not failed
    if (!answer.ok()) throw std::runtime_error(answer.error);
    if (answer.rows.empty()) return;
    const std::scoped_lock lock{mutex_};
    notes_[event].open = true;
    ++notes_[event].most_claims;
  });
}

Step World::unsubscribe_begun(const std::string& who, const std::string& handler) {
  return step("begin, unsubscribe " + handler, who, [this, handler](Session& session) {
    session.in_transaction = true;
    session.withdrawing = handler;
    must(session,
         "begin; select core.unsubscribe(" + std::to_string(generation_) + ", '" + handler + "', 'tester', 'sql', '')");
  });
}

Step World::crash(const std::string& who, const std::string& victim) {
  Session& dying = session(victim);
  return step("crash of " + victim, who, [this, &dying](Session&) {
    dying.crashed = true;
    crashed_ = true;
    stop(dying.name);
  });
}

// Judging ------------------------------------------------------------------------------------------------------------

void World::stop(const std::string& session) {
  SqlSession killer{database_.url()};
  killer.must(
      "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = current_database() and " +
      (session.empty() ? "application_name like 'inter\\_%'" : "application_name = '" + application(session) + "'"));
}

bool World::waits(const std::string& session) {
  return !control_
              .must("select from pg_stat_activity where datname = current_database() and application_name = '" +
                    application(session) + "' and cardinality(pg_blocking_pids(pid)) > 0")
              .rows.empty();
}

std::string World::objection() {
  {
    const std::scoped_lock lock{mutex_};
    if (!broken_.empty()) return broken_;
  }
  return control_.must("select explorer.objection(" + std::to_string(generation_) + ")").value();
}

std::string World::drained(const std::string& name, const std::vector<std::string>& patterns) {
  for (auto& [who, session] : sessions_) {
    if (session.crashed || session.held.empty()) continue;
    const Held held = std::exchange(session.held, {});
    settled(held, value_of(store_of(session).settle(items(held, End::delivered)), "settle").fenced, End::delivered);
  }
  Session& drain = session(name);
  const std::string number = std::to_string(generation_);
  for (int vain = 0; vain < 4;) {
    bool some = false;
    for (const std::string& pattern : patterns) {
      claim(name, 10, pattern).run();
      const Held held = std::exchange(drain.held, {});
      if (held.empty()) continue;
      some = true;
      settled(held, value_of(store_of(drain).settle(items(held, End::delivered)), "settle").fenced, End::delivered);
    }
    if (some) {
      vain = 0;
      continue;
    }
    ++vain;
    // What is to be tried again within seconds is due; what is parked is not.
    const std::string left =
        control_
            .must("with aged as (update core.outbox set retry_after = now() where generation = " + number +
                  " and status = 'pending' and retry_after > now() and retry_after < now() + interval '5 seconds') "
                  "select count(*) from core.outbox o where o.generation = " +
                  number + " and o.status in ('pending', 'in_flight') and core.outbox_subscribed(o)")
            .value();
    if (left == "0") break;
    if (!crashed_) continue;
    expire(name).run();
    reap_now(drain);
  }
  if (std::string wrong = objection(); !wrong.empty()) return wrong;
  for (const auto& [event, note] : notes_) {
    if (!crashed_ && note.claims > note.most_claims)
      return event + " was claimed " + std::to_string(note.claims) + " times";
  }
  return control_.must("select explorer.leftover(" + number + ", " + (crashed_ || by_sql_ ? "false" : "true") + ")")
      .value();
}

// Exploring ----------------------------------------------------------------------------------------------------------

std::uint64_t most_orders() {
  const char* most = std::getenv("SLUICE_INTERLEAVINGS");
  if (most == nullptr) return 40;
  return std::string_view{most} == "full" ? 5000 : std::strtoull(most, nullptr, 10);
}

std::uint64_t sample_seed() {
  const char* seed = std::getenv("SLUICE_INTERLEAVING_SEED");
  return seed == nullptr ? 1 : std::strtoull(seed, nullptr, 10);
}

Exploration explore(const Scenario& scenario, World& world, std::uint64_t most, std::uint64_t seed) {
  world.take_rescans_for_dear(scenario.dear);
  const std::vector<Script> scripts = scenario.scripts(world);
  std::vector<std::size_t> lengths;
  for (const Script& script : scripts) lengths.push_back(script.steps.size());
  Orders orders{lengths, most, seed};
  std::deque<Player> players(scripts.size());
  const Hooks hooks{.waits = [&](const std::string& session) { return world.waits(session); },
                    .after_each = [&] { return world.objection(); },
                    .stop = [&] { world.stop(); }};
  Exploration exploration{.possible = orders.count()};
  while (const auto order = orders.next()) {
    ++exploration.orders;
    world.renew(scenario.subscriptions);
    if (scenario.setup) scenario.setup(world);
    Played played = play(scripts, players, *order, hooks);
    if (played.objection.empty()) {
      // By somebody who remembers, and by somebody who comes anew.
      const bool anew = exploration.orders % 2 == 0 || scenario.drained_by.empty();
      played.trace += anew ? "  drained by a newcomer\n" : "  drained by " + scenario.drained_by + "\n";
      played.objection = world.drained(anew ? "drain" : scenario.drained_by, scenario.patterns);
    }
    if (played.objection.empty()) continue;
    exploration.violation = scenario.name + ", seed " + std::to_string(seed) + ", order " +
                            std::to_string(exploration.orders) + " of " + std::to_string(orders.count()) + ": " +
                            played.objection + "\n" + played.trace;
    break;
  }
  return exploration;
}

}  // namespace sluice::test
