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

// Functions, because their plans are kept. What must hold after every step, and what must not be there in the end.
constexpr const char* kJudge = R"(
create schema explorer;
-- What a relay has published and nobody has handled.
create view explorer.in_broker as
select o.* from core.outbox o
where o.status = 'delivered' and o.claimed_by like '%/relay:%'
  and not exists (select from core.event_handled h where h.handler_name = 'x.all' and h.idempotency_key = o.idempotency_key || '@' || o.generation);
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
           and o.status = 'pending' and o.retry_after is null and o.deleted_at is null and core.outbox_subscribed(o) limit 1),
        (select 'a listener has ' || o.idempotency_key || ', and the broker still has ' || b.idempotency_key || ' of its key'
         from core.outbox o join explorer.in_broker b on b.ordering_key = o.ordering_key and b.seq < o.seq
         where o.generation = p_generation and o.status = 'in_flight' and o.claimed_by not like '%/relay:%' limit 1));
end $$;
create function explorer.leftover(p_generation bigint, p_claims boolean) returns text
language plpgsql set plan_cache_mode = force_generic_plan set jit = off as $$
begin
    return coalesce(
        (select 'left ' || o.status || ': ' || o.idempotency_key || coalesce(', retry_after in ' || (o.retry_after - now()), '')
         from core.outbox o
         where o.generation = p_generation and o.status in ('pending', 'in_flight') and o.deleted_at is null
           and core.outbox_subscribed(o) limit 1),
        (select 'key still held: ' || k.ordering_key from core.keys_in_flight k limit 1),
        (select 'claim still there: ' || c.batch from core.claims c where p_claims and c.generation = p_generation limit 1));
end $$;
)";

// Rescans that can be held up, by who has one of the two locks.
constexpr const char* kHeldRescans = R"(
alter function core.claim_cursor_advance(text, bigint, text[]) rename to advance_at_once;
create function core.claim_cursor_advance(p_group text, p_generation bigint, p_interests text[])
returns table (low bigint, first_open bigint, upto bigint, busy boolean) language plpgsql as $$
begin
    perform pg_advisory_lock_shared(77, 0), pg_advisory_unlock_shared(77, 0);
    return query select * from core.advance_at_once(p_group, p_generation, p_interests);
    perform pg_advisory_lock_shared(77, 1), pg_advisory_unlock_shared(77, 1);
end $$;
create view explorer.held_rescans as
select l.pid from pg_locks l join pg_database d on d.oid = l.database
where l.locktype = 'advisory' and l.classid = 77 and not l.granted and l.mode = 'ShareLock' and d.datname = current_database();
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
  if (relay_) text += "update core.settings set value = 'off' where key = 'relay';";
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

void World::share_a_store(const std::set<std::string>& process) {
  if (process_.empty() && !process.empty()) control_.must(kHeldRescans);
  process_ = process;
}

std::string World::owner_of(const std::string& session) const {
  return process_.contains(session) ? *process_.begin() : session;
}

store::Store& World::store_of(Session& asking) {
  Session& session = this->session(owner_of(asking.name));
  if (!session.store) {
    store::PostgresOptions options;
    options.dsn = database_.url();
    options.max_connections = process_.contains(session.name) ? 4 : 2;
    options.sweep_interval = {};
    if (dear_) options.dear_look = std::chrono::milliseconds{-1};
    options.application_name = application(session.name);
    session.store = value_of(store::open_postgres(options), "open");
    // All connections that it will have: a new one makes it forget what it knows.
    std::vector<std::unique_ptr<store::EffectTransaction>> open;
    for (int connection = 0; connection < options.max_connections; ++connection)
      open.push_back(value_of(session.store->begin_effect(std::chrono::minutes{5}), "begin"));
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

std::string World::advance(const std::string& pattern) const {
  return "select * from core.claim_cursor_advance('" + group(pattern) + "', " + std::to_string(generation_) + ", " +
         sql_array(store::route_patterns(interests_of(pattern))) + ")";
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
              .must("select from pg_stat_activity where datname = current_database() and application_name in ('" +
                    application(session) + "', '" + application(owner_of(session)) +
                    "') and cardinality(pg_blocking_pids(pid)) > 0")
              .rows.empty();
}

std::string World::objection() {
  {
    const std::scoped_lock lock{mutex_};
    if (!broken_.empty()) return broken_;
  }
  if (!process_.empty() && control_.must("select from explorer.held_rescans").rows.size() > 1)
    return "two threads of one process read everything at once";
  return control_.must("select explorer.objection(" + std::to_string(generation_) + ")").value();
}

std::string World::drained(const std::string& name, const std::vector<std::string>& patterns) {
  for (auto& [who, session] : sessions_) {
    if (session.crashed || session.held.empty()) continue;
    const Held held = std::exchange(session.held, {});
    settled(held, value_of(store_of(session).settle(items(held, End::delivered)), "settle").fenced, End::delivered);
  }
  if (std::string lost = lost_report(); !lost.empty()) return lost;
  Session& drain = session(name);
  if (relay_) {
    consume(name).run();
    turn(name, "off").run();
  }
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
                  number +
                  " and o.status in ('pending', 'in_flight') and o.deleted_at is null and core.outbox_subscribed(o)")
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
  world.share_a_store(scenario.process);
  world.relay(scenario.relay);
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
