// Claims under what only PostgreSQL has: open transactions, held snapshots, stale statistics, lost
// cursors, many sessions.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "store/postgres/postgres_store.hpp"
#include "store/postgres/postgres_store_impl.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

class PostgresClaim : public testing::Test {
 protected:
  std::unique_ptr<store::Store> open(int connections = 4, Duration sweep = {}, std::optional<Duration> dear_look = {}) {
    store::PostgresOptions options;
    if (dear_look) options.dear_look = *dear_look;
    options.dsn = database.url();
    options.max_connections = connections;
    options.sweep_interval = sweep;
    auto opened = store::open_postgres(options);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return std::move(opened).value();
  }
  static std::vector<store::ClaimedEvent> claim(store::Store& store, int limit = 100) {
    auto claimed = store.claim({.worker = "w", .limit = limit});
    EXPECT_TRUE(claimed) << (claimed ? "" : claimed.error().message);
    return claimed ? std::move(claimed).value() : std::vector<store::ClaimedEvent>{};
  }
  static void deliver(store::Store& store, const std::vector<store::ClaimedEvent>& events) {
    std::vector<store::SettleItem> items;
    for (const auto& event : events)
      items.push_back({.claim = event.claim, .settlement = {}, .handled_by = {}, .idempotency_key = {}});
    const auto report = store.settle(items);
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_TRUE(report->fenced.empty());
  }
  // Any writing transaction of the whole server holds the mark back, those of other tests too.
  std::string drain_until_low_is(store::Store& store, const std::string& wanted) {
    std::string low;
    for (int tries = 0; tries < 20'000 && low != wanted; ++tries) {
      deliver(store, claim(store));
      low = session.must("select low from core.claim_cursors where group_key = '1'").value();
    }
    return low;
  }
  static std::string insert(int count, const std::string& type) {
    return "insert into core.outbox (event_type, source, generation, payload) select '" + type +
           "', 'worlds', 1, '{}' from generate_series(1, " + std::to_string(count) + ")";
  }
  std::string count(const std::string& where) {
    return session.must("select count(*) from core.outbox where " + where).value();
  }

  /// From here on notices() has the plan of each statement, those inside functions included.
  void explain_everything() {
    session.must("load 'auto_explain'");
    session.must(
        "set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on; set "
        "auto_explain.log_level = notice; set client_min_messages = notice");
  }

  PostgresDatabase database;
  SqlSession session{database.url()};
};

TEST_F(PostgresClaim, FindsWhatAnOpenTransactionCommitsAfterThousandsHavePassed) {
  const auto store = open();
  SqlSession slow{database.url()};
  slow.must("begin");
  slow.must(insert(3, "late"));
  session.must(insert(5000, "early"));
  for (int delivered = 0; delivered < 5000;) {
    const auto events = claim(*store, 500);
    ASSERT_FALSE(events.empty());
    delivered += static_cast<int>(events.size());
    deliver(*store, events);
  }
  EXPECT_TRUE(claim(*store).empty());
  slow.must("commit");
  const auto late = claim(*store);
  ASSERT_EQ(late.size(), 3U);
  EXPECT_EQ(late.front().envelope.event_type(), "late");
}

// Each event of the key is passed over by the scan; a look back would find it, but somebody holds its row.
TEST_F(PostgresClaim, WhatWaitedForAKeyIsTakenWithoutALookBack) {
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) select 'a', 'worlds', 1, '{}', "
      "'k' from "
      "generate_series(1, 6)");
  session.must("select core.subscribe(1, array['worlds.h'], '[[\"*\"]]', array[null]::text[], array[null]::text[])");
  const auto store = open(4, std::chrono::hours{1});
  auto events = claim(*store);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(claim(*store).empty());
  session.must("begin");
  session.must("select from core.claim_cursors where group_key = '1' for update");
  for (int number = 2; number <= 6; ++number) {
    // In turn by itself and within a handler's transaction.
    if (number % 2 == 0) {
      deliver(*store, events);
    } else {
      auto effect = store->begin_effect(std::chrono::seconds{60});
      ASSERT_TRUE(effect) << effect.error().message;
      const std::vector<store::SettleItem> items{
          {.claim = events.front().claim, .settlement = {}, .handled_by = {}, .idempotency_key = {}}};
      ASSERT_TRUE((*effect)->settle(items, std::nullopt));
      EXPECT_TRUE(claim(*store).empty()) << "not committed yet";
      ASSERT_TRUE((*effect)->commit());
    }
    events = claim(*store);
    ASSERT_EQ(events.size(), 1U) << number;
    EXPECT_EQ(session.must("select seq from core.outbox where status = 'in_flight'").value(), std::to_string(number));
  }
}

// The look at everything is told to find nothing, so only one at the numbers that were missing can. It does so as long
// as the look before it was dear, a matter of milliseconds here, and so not in every round.
TEST_F(PostgresClaim, ALateCommitIsFoundAmongTheNumbersThatWereMissing) {
  const auto store = open(4, {}, Duration::zero());
  SqlSession held{database.url()};
  held.must("begin");
  held.must(insert(1, "held"));
  session.must(
      "create or replace function core.claim_cursor_advance(p_group text, p_generation bigint, p_interests text[]) "
      "returns table "
      "(low bigint, first_open bigint, upto bigint, busy boolean) language sql as $$ select 0::bigint, null::bigint, "
      "last_value, "
      "false from core.outbox_seq $$");
  bool found = false;
  for (int round = 0; round < 200 && !found; ++round) {
    SqlSession late{database.url()};
    late.must("begin");
    late.must(insert(1, "late"));
    session.must(insert(3, "early"));
    deliver(*store, claim(*store));
    claim(*store);
    claim(*store);
    late.must("commit");
    const auto events = claim(*store);
    found = events.size() == 1 && events.front().envelope.event_type() == "late";
    deliver(*store, events);
  }
  EXPECT_TRUE(found);
}

// A look at all that is due may be too dear to be made each time; what such looks leave out is found by the next one.
TEST_F(PostgresClaim, WhatBecameDueLongAgoIsFoundWhileLooksAreBounded) {
  const auto store = open(4, std::chrono::hours{1});
  for (int number = 1; number <= 20; ++number) {
    session.must(insert(1, "fresh"));
    deliver(*store, claim(*store));
    session.must(
        "insert into core.outbox (event_type, source, generation, payload, retry_after) "
        "values ('late', 'worlds', 1, '{}', now() - interval '1 hour')");
    std::vector<store::ClaimedEvent> late;
    for (int tries = 0; tries < 100'000 && late.empty(); ++tries) late = claim(*store);
    ASSERT_EQ(late.size(), 1U) << number;
    deliver(*store, late);
  }
}

// Keys are released by the batch only where the batch says so: a plain UPDATE releases its own.
TEST_F(PostgresClaim, APlainUpdateReleasesItsKey) {
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) select 'a', 'worlds', 1, '{}', "
      "'k' from "
      "generate_series(1, 2)");
  const auto store = open();
  ASSERT_EQ(claim(*store).size(), 1U);
  session.must("update core.outbox set status = 'delivered', delivered_at = now() where status = 'in_flight'");
  EXPECT_EQ(session.must("select count(*) from core.keys_in_flight").value(), "0");
  EXPECT_EQ(claim(*store).size(), 1U);
}

TEST_F(PostgresClaim, ALostCursorTableCostsTimeAndNoEvent) {
  session.must(insert(50, "a"));
  deliver(*open(), claim(*open(), 20));
  session.must("delete from core.claim_cursors");
  const auto fresh = open();
  EXPECT_EQ(claim(*fresh).size(), 30U);
}

TEST_F(PostgresClaim, AClaimThatRollsBackIsFoundAgain) {
  session.must(insert(10, "a"));
  const auto store = open();
  SqlSession dying{database.url()};
  dying.must("begin");
  dying.must("select count(*) from core.outbox_claim(1, 'dying', 10, '1 min', 0, null, null, null, null, true)");
  session.must(insert(1, "b"));
  EXPECT_EQ(claim(*store).size(), 1U) << "the locked ones are skipped";
  dying.must("rollback");
  EXPECT_EQ(claim(*store).size(), 10U) << "and found when the other claimer is gone";
}

TEST_F(PostgresClaim, CursorsAreSavedAndNeverPassAnOpenTransaction) {
  const auto store = open();
  SqlSession slow{database.url()};
  slow.must("begin");
  slow.must(insert(1, "late"));
  session.must(insert(100, "early"));
  for (int i = 0; i < 5; ++i) deliver(*store, claim(*store));
  EXPECT_EQ(session.must("select coalesce(max(low), 0) from core.claim_cursors").value(), "0");
  slow.must("commit");
  EXPECT_EQ(drain_until_low_is(*store, "101"), "101");
}

TEST_F(PostgresClaim, TheLowMarkIsMovedByWhoeverIsFirstInItsTransaction) {
  session.must(insert(1, "a"));
  session.must("select from core.claim_cursor_advance('1', 1, null)");
  session.must("begin");
  session.must("select from core.claim_cursor_advance('1', 1, null)");
  SqlSession rival{database.url()};
  EXPECT_EQ(rival.must("select busy from core.claim_cursor_advance('1', 1, null)").value(), "t");
  session.must("commit");
  EXPECT_EQ(rival.must("select busy from core.claim_cursor_advance('1', 1, null)").value(), "f");
  // Its own number would be older than what it has to cover.
  rival.must("begin");
  rival.must(insert(1, "b"));
  EXPECT_EQ(rival.run("select from core.claim_cursor_advance('1', 1, null)").sqlstate, "SL409");
}

TEST_F(PostgresClaim, ALookBackThatMayNotBeYetEndsTheRest) {
  const auto store = open(4, std::chrono::hours{1});
  for (int number = 1; number <= 20; ++number) {
    session.must(insert(1, "a"));
    const auto events = claim(*store);
    ASSERT_EQ(events.size(), 1U);
    deliver(*store, events);
    EXPECT_TRUE(claim(*store).empty());
    // The first claim of all looks back as well. From then on a look has most often just been, and the next one may be
    // only in a moment.
    const auto due = store->next_due(1, {});
    ASSERT_TRUE(due) << due.error().message;
    EXPECT_TRUE(*due || number == 1) << "the mark is behind the head, so whoever rests now has to come back; event "
                                     << number;
    // Ever later looks, while a transaction of another test holds the mark back.
    while (session.must("select low from core.claim_cursors where group_key = '1'").value() != std::to_string(number)) {
      ASSERT_TRUE(claim(*store).empty());
    }
  }
}

TEST_F(PostgresClaim, TheFirstNumberOfAllIsNotPassedBeforeItIsDrawn) {
  for (int i = 0; i < 3; ++i) session.must("select from core.claim_cursor_advance('1', 1, null)");
  EXPECT_EQ(session.must("select low, mark from core.claim_cursors where group_key = '1'").rows.at(0),
            (std::vector<std::optional<std::string>>{"0", "0"}));
  session.must(insert(1, "first"));
  EXPECT_EQ(claim(*open()).size(), 1U);
}

TEST_F(PostgresClaim, AClaimTakesNoMoreThanItsLimitWhereSomethingIsLeftBehind) {
  session.must(insert(20, "a"));
  SqlSession rival{database.url()};
  rival.must("begin");
  rival.must("select from core.outbox where seq <= 3 for update");
  const auto store = open();
  ASSERT_EQ(claim(*store, 5).size(), 5U);
  rival.must("rollback");
  for (int taken = 5; taken < 20; taken += 5) EXPECT_EQ(claim(*store, 5).size(), 5U);
  EXPECT_TRUE(claim(*store, 5).empty());
}

TEST_F(PostgresClaim, AnEventIsNotParkedBehindOneThatWasGivenBackMeanwhile) {
  const auto keyed = [](const std::string& type) {
    return "insert into core.outbox (event_type, source, generation, ordering_key) values ('" + type +
           "', 'worlds', 1, 'k')";
  };
  SqlSession late{database.url()};
  late.must("begin");
  late.must(keyed("first"));
  session.must(keyed("second"));
  const auto store = open();
  ASSERT_EQ(claim(*store).size(), 1U) << "the second one is in flight before the first one is there";
  late.must("commit");

  // Whoever asks what the first one waits for stands still with the answer until told to go on.
  session.must("alter function core.outbox_blocker(text, bigint, uuid) rename to outbox_blocker_now");
  session.must(
      "create function core.outbox_blocker(p_key text, p_seq bigint, p_id uuid) returns uuid language plpgsql as $$ "
      "declare v_answer uuid := core.outbox_blocker_now(p_key, p_seq, p_id); "
      "begin perform pg_advisory_xact_lock_shared(77); return v_answer; end $$");
  session.must("select pg_advisory_lock(77)");
  std::string parked;
  std::jthread parking{[&] {
    parked = late.must("select core.outbox_park(array(select id from core.outbox where event_type = 'first'))").value();
  }};
  const auto stands_still = [&] {
    return session
               .must(
                   "select count(*) from pg_locks l join pg_database d on d.oid = l.database and d.datname = "
                   "current_database() where l.locktype = 'advisory' and l.objid = 77 and not l.granted")
               .value() == "1";
  };
  while (!stands_still()) continue;
  session.must(
      "update core.outbox set status = 'pending', retry_after = now() + interval '1 hour' where event_type = 'second'");
  session.must("select pg_advisory_unlock(77)");
  parking.join();
  EXPECT_EQ(parked, "{}") << "the second one waits for the first, so nobody would ever release it";
}

TEST_F(PostgresClaim, WhatIsParkedAndWaitsForAHandlerThatGoesIsFreedOfBoth) {
  session.must("insert into core.subscriptions (generation, handler_name, event_types) values (1, 'a.gone', '{*}')");
  session.must(
      "insert into core.outbox (event_type, source, generation, ordering_key, retry_after, blocked_since, lane, "
      "progress) "
      "values ('a', 'worlds', 1, 'k', now() + interval '10 minutes', now(), 'a', '[{\"handler\": \"a.gone\"}]')");
  session.must("select core.unsubscribe(1, 'a.gone', 'me', 'sql', '')");
  EXPECT_EQ(count("progress is null and lane is null and blocked_since is null and retry_after <= now()"), "1");
}

// Numbers that are not what the scan assumes: the patrol makes their events due.
class PostgresPatrolledClaim : public PostgresClaim {
 protected:
  void pass(int count) {
    session.must(insert(count, "early"));
    ASSERT_EQ(drain_until_low_is(*store, std::to_string(count)), std::to_string(count));
  }
  std::string patrol() {
    return session
        .must(
            "select string_agg(cause, ' ') from core.patrol_step('p', '1 min', '0', '1 day', 100000) where id is not "
            "null")
        .value();
  }
  void expect_found_by_the_patrol(std::size_t count) {
    EXPECT_TRUE(claim(*store).empty()) << "nothing is wrong, so this shows nothing";
    EXPECT_NE(patrol(), "");
    const auto events = claim(*store);
    EXPECT_EQ(events.size(), count);
    deliver(*store, events);
    EXPECT_EQ(this->count("status <> 'delivered'"), "0");
    EXPECT_EQ(session.must("select count(*) from core.stranded").value(), std::to_string(count));
  }
  std::unique_ptr<store::Store> store = open();
};

TEST_F(PostgresPatrolledClaim, FindsNumbersThatASessionHadInStock) {
  session.must("alter sequence core.outbox_seq cache 20");
  SqlSession stocked{database.url()};
  stocked.must(insert(1, "first"));
  SqlSession other{database.url()};
  other.must(insert(1, "second"));
  // Low is at the second one's number, whose stock begins where the first one's ends.
  ASSERT_EQ(drain_until_low_is(*store, "40"), "40");
  stocked.must(insert(3, "late"));
  expect_found_by_the_patrol(3);
}

TEST_F(PostgresPatrolledClaim, FindsWhatASequenceThatWasSetBackGaveOut) {
  pass(30);
  session.must("select setval('core.outbox_seq', 10)");
  session.must(insert(3, "again"));
  expect_found_by_the_patrol(3);
}

TEST_F(PostgresPatrolledClaim, FindsNumbersThatWereGivenExplicitly) {
  pass(30);
  session.must(
      "insert into core.outbox (event_type, source, generation, seq) select 'explicit', 'worlds', 1, n from "
      "generate_series(5, 8) n");
  expect_found_by_the_patrol(4);
}

TEST_F(PostgresPatrolledClaim, FindsRowsThatWereRestored) {
  session.must("create table kept as select * from core.outbox where false");
  session.must(insert(10, "a"));
  session.must("insert into kept select * from core.outbox where seq between 3 and 4");
  ASSERT_EQ(drain_until_low_is(*store, "10"), "10");
  session.must("delete from core.outbox where seq between 3 and 4");
  session.must("insert into core.outbox select * from kept");
  expect_found_by_the_patrol(2);
}

TEST_F(PostgresPatrolledClaim, ANumberFarAheadHidesNothing) {
  session.must("insert into core.outbox (event_type, source, generation, seq) values ('far', 'worlds', 1, 1000000)");
  EXPECT_EQ(claim(*store).size(), 1U);
  session.must(insert(5, "near"));
  EXPECT_EQ(claim(*store).size(), 5U);
}

TEST_F(PostgresPatrolledClaim, ExpiresWhatIsInFlightWithoutAClaim) {
  session.must(
      "insert into core.outbox (event_type, source, generation, status, ordering_key) values ('odd', 'worlds', 1, "
      "'in_flight', 'k')");
  ASSERT_TRUE(store->expired_claims(10)->empty());
  EXPECT_EQ(patrol(), "no_claim");
  const auto expired = store->expired_claims(10);
  ASSERT_TRUE(expired);
  ASSERT_EQ(expired->size(), 1U);
  store::SettleItem again{.claim = expired->front().claim,
                          .settlement = {.next = Status::pending, .cause = Cause::expire},
                          .handled_by = {},
                          .idempotency_key = {}};
  ASSERT_TRUE(store->settle(std::span{&again, 1}));
  const auto events = claim(*store);
  ASSERT_EQ(events.size(), 1U);
  deliver(*store, events);
}

TEST_F(PostgresPatrolledClaim, FreesAKeyWhoseHolderIsNotInFlight) {
  session.must("insert into core.outbox (event_type, source, generation, ordering_key) values ('a', 'worlds', 1, 'k')");
  session.must("insert into core.keys_in_flight (ordering_key, event_id) values ('k', core.uuid_v7())");
  EXPECT_TRUE(claim(*store).empty()) << "the key is not held, so this shows nothing";
  EXPECT_EQ(patrol(), "blocker_gone");
  const auto events = claim(*store);
  ASSERT_EQ(events.size(), 1U);
  deliver(*store, events);
}

TEST_F(PostgresClaim, UpdatesOfTheHappyPathAreHot) {
  session.must(insert(2000, "a"));
  const auto store = open();
  for (int i = 0; i < 20; ++i) deliver(*store, claim(*store));
  EXPECT_EQ(count("status = 'delivered'"), "2000");
  // The statistics arrive when the session that made them says so or ends.
  session.must("select pg_stat_force_next_flush()");
  const auto hot = [&] {
    SqlSession reader{database.url()};
    return reader.must(
        "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relid = 'core.outbox'::regclass");
  };
  auto answer = hot();
  for (int tries = 0; tries < 200 && answer.rows.at(0)[0] != "4000"; ++tries) {
    deliver(*store, claim(*store));
    answer = hot();
  }
  EXPECT_EQ(answer.rows.at(0)[0], "4000");
  EXPECT_EQ(answer.rows.at(0)[1], "4000")
      << "no index may mention a column that a delivery changes, and the page needs room";
}

// The events of one key in order, with other keys all around: outbox_keyed once looked as cheap and read them all.
TEST_F(PostgresClaim, TheEventsOfAKeyAreFoundByTheirKey) {
  session.must("alter table core.outbox set (autovacuum_enabled = off)");
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) select 'a', 'worlds', 1, '{}', "
      "'k' || i % 1000 from generate_series(1, 20000) i");
  // As the functions that ask have it.
  session.must("set enable_seqscan = off; set enable_bitmapscan = off; set enable_sort = off");
  explain_everything();
  for (const char* statistics : {"select 1", "analyze core.outbox"}) {
    session.must(statistics);
    const std::string plans = session.notices("select core.outbox_blocker('k7', 15007, core.uuid_v7())");
    EXPECT_NE(plans.find("outbox_waiting_keys"), std::string::npos) << plans;
    EXPECT_NE(plans.find("outbox_ordering"), std::string::npos) << plans;
    EXPECT_EQ(plans.find("Seq Scan on outbox"), std::string::npos) << plans;
    EXPECT_EQ(plans.find("outbox_keyed"), std::string::npos) << plans;
    session.must("discard plans");
  }
}

TEST_F(PostgresClaim, ThePlanIsPinnedOnStaleStatistics) {
  // Statistics say "empty table", then "everything is delivered": both mislead a planner that is free.
  session.must("analyze core.outbox");
  session.must("alter table core.outbox set (autovacuum_enabled = off)");
  session.must(insert(20000, "a"));
  explain_everything();
  const auto plans = [&] {
    return session.notices(
        "select count(*) from core.outbox_claim(1, 'w', 100, '1 min', 0, null, null, null, null, true)");
  };
  for (const char* statistics : {"select 1", "analyze core.outbox"}) {
    session.must(statistics);
    const std::string plan = plans();
    EXPECT_NE(plan.find("Index Scan using outbox_scan"), std::string::npos) << plan;
    EXPECT_NE(plan.find("Index Scan using outbox_waiting"), std::string::npos) << plan;
    EXPECT_NE(plan.find("Tid Scan on outbox"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("Seq Scan on outbox"), std::string::npos) << plan;
    // The only sort is that of what the lanes yielded, at most a batch each.
    const std::size_t sort = plan.find("Sort Key: w.retry_after");
    EXPECT_EQ(plan.find("Sort Key"), sort) << plan;
    EXPECT_EQ(plan.find("Sort Key", sort + 1), std::string::npos) << plan;
  }
}

TEST_F(PostgresClaim, AStretchIsTakenInOnePassOverItsIndex) {
  session.must("alter table core.outbox set (autovacuum_enabled = off)");
  session.must(insert(20000, "a"));
  explain_everything();
  for (const char* statistics : {"select 1", "analyze core.outbox"}) {
    session.must(statistics);
    const std::string plan =
        session.notices("select count(*) from core.outbox_claim_stretch(1, 'w', '1 min', 0, 100, null, null, null)");
    EXPECT_NE(plan.find("Index Scan using outbox_scan"), std::string::npos) << plan;
    EXPECT_NE(plan.find("Index Scan using outbox_waiting"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("LockRows"), std::string::npos) << plan;
    EXPECT_EQ(plan.find("Seq Scan on outbox"), std::string::npos) << plan;
  }
}

// Claims until nothing is left; fails on an event that comes twice.
class PostgresBacklog : public PostgresClaim {
 protected:
  int drain(const std::vector<store::Store*>& stores) {
    for (std::size_t vain = 0; vain < stores.size();) {
      for (store::Store* store : stores) {
        const auto events = claim(*store, 100);
        vain = events.empty() ? vain + 1 : 0;
        for (const auto& event : events) EXPECT_TRUE(seen.insert(event.claim.event_id).second) << "claimed twice";
      }
    }
    return static_cast<int>(seen.size());
  }
  std::set<Uuid> seen;
};

TEST_F(PostgresBacklog, TwoProcessesTakeEachEventOnce) {
  session.must(insert(3000, "a"));
  const auto one = open();
  const auto other = open();
  EXPECT_EQ(drain({one.get(), other.get()}), 3000);
  EXPECT_EQ(session.must("select sum(cardinality(seqs)) from core.claims").value(), "3000");
}

TEST_F(PostgresBacklog, AnEventThatSomebodyLocksHoldsUpNoOther) {
  session.must(insert(1000, "a"));
  SqlSession rival{database.url()};
  rival.must("begin");
  rival.must("select from core.outbox where seq = 350 for update");
  const auto store = open();
  EXPECT_EQ(drain({store.get()}), 999);
  rival.must("rollback");
  EXPECT_EQ(drain({store.get()}), 1000);
}

TEST_F(PostgresBacklog, NumbersThatWereRolledBackAreNoObstacle) {
  for (int i = 0; i < 5; ++i) {
    session.must(insert(150, "a"));
    session.must("begin");
    session.must(insert(70, "never"));
    session.must("rollback");
  }
  EXPECT_EQ(drain({open().get()}), 750);
}

TEST_F(PostgresBacklog, OfAnOrderingKeyOneIsTaken) {
  session.must(insert(400, "a"));
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) select 'keyed', 'worlds', 1, "
      "'{}', "
      "'k' from generate_series(1, 50)");
  session.must(insert(400, "a"));
  EXPECT_EQ(drain({open().get()}), 801);
}

TEST_F(PostgresBacklog, WhatIsDueGoesFirst) {
  session.must(insert(1000, "new"));
  const auto store = open();
  ASSERT_EQ(claim(*store).size(), 100U);
  ASSERT_EQ(claim(*store).size(), 100U);
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, retry_after) values ('due', 'worlds', 1, "
      "'{}', "
      "now())");
  const auto events = claim(*store);
  EXPECT_TRUE(std::any_of(events.begin(), events.end(),
                          [](const auto& event) { return event.envelope.event_type() == "due"; }));
}

TEST_F(PostgresClaim, AHundredSessionsShareTheWorkWithoutLossOrOverlap) {
  session.must(insert(3000, "a"));
  const auto store = open(100);
  std::atomic<int> delivered{0};
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 100; ++i) {
      workers.emplace_back([&, i] {
        for (int empty = 0; empty < 3;) {
          auto events = store->claim({.worker = "w" + std::to_string(i), .limit = 10});
          ASSERT_TRUE(events) << events.error().message;
          if (events->empty()) ++empty;
          deliver(*store, *events);
          delivered += static_cast<int>(events->size());
        }
      });
    }
  }
  EXPECT_EQ(delivered.load(), 3000);
  EXPECT_EQ(count("status = 'delivered' and claim_seq = 1"), "3000");
  EXPECT_EQ(session.must("select count(*) from core.claims").value(), "0") << "settled batches are forgotten";
}

TEST_F(PostgresClaim, ABatchIsForgottenOnlyWhenItsLastEventIsSettled) {
  session.must(insert(2, "a"));
  const auto store = open();
  const auto events = claim(*store);
  ASSERT_EQ(events.size(), 2U);
  deliver(*store, {events[0]});
  store::SettleItem again{.claim = events[0].claim, .settlement = {}, .handled_by = {}, .idempotency_key = {}};
  const auto repeated = store->settle(std::span{&again, 1});
  ASSERT_TRUE(repeated);
  EXPECT_EQ(repeated->fenced.size(), 1U);
  EXPECT_EQ(session.must("select count(*) from core.claims").value(), "1") << "the other event can still expire";
  deliver(*store, {events[1]});
  EXPECT_EQ(session.must("select count(*) from core.claims").value(), "0");
}

TEST_F(PostgresClaim, SurvivesAServerThatDropsItsConnections) {
  session.must(insert(10, "a"));
  const auto store = open(1);
  ASSERT_EQ(claim(*store, 1).size(), 1U);
  session.must(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice' and datname = "
      "current_database()");
  // The idle connection's end is noticed before it is used, so this is a new connection, not an error.
  std::vector<store::ClaimedEvent> next;
  for (int tries = 0; tries < 50 && next.empty(); ++tries) {
    auto claimed = store->claim({.worker = "w", .limit = 1});
    if (claimed) next = std::move(claimed).value();
  }
  EXPECT_EQ(next.size(), 1U);
}

std::size_t open_batches(store::Store& store) { return dynamic_cast<store::PostgresStore&>(store).open_batches(); }

// Workers that pull reach now one daemon, now another: what one claims the other settles.
TEST_F(PostgresClaim, WhatIsPulledThroughTwoStoresLeavesNothingBehind) {
  const auto one = open(6);
  const auto other = open(6);
  session.must(insert(900, "pull.keyless"));
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) "
      "select 'pull.keyed', 'worlds', 1, '{}', 'k' || n % 50 from generate_series(1, 100) n");
  std::atomic<int> delivered = 0;
  {
    std::vector<std::jthread> workers;
    for (int n = 0; n < 4; ++n) {
      workers.emplace_back([&, n] {
        store::Store& claims = n % 2 == 0 ? *one : *other;
        store::Store& settles = n % 2 == 0 ? *other : *one;
        while (delivered < 1000) {
          const auto claimed = claims.claim({.worker = "pull" + std::to_string(n), .limit = 7, .settled_here = false});
          ASSERT_TRUE(claimed) << claimed.error().message;
          // A batch comes back in parts, and through both.
          std::vector<store::ClaimedEvent> here;
          std::vector<store::ClaimedEvent> there;
          for (std::size_t i = 0; i < claimed->size(); ++i) (i % 2 == 0 ? here : there).push_back((*claimed)[i]);
          deliver(settles, there);
          deliver(claims, here);
          delivered += static_cast<int>(claimed->size());
        }
      });
    }
  }
  EXPECT_EQ(count("status = 'delivered'"), "1000");
  EXPECT_EQ(session.must("select count(*) from core.claims").value(), "0");
  EXPECT_EQ(session.must("select count(*) from core.keys_in_flight").value(), "0");
  EXPECT_EQ(open_batches(*one), 0U);
  EXPECT_EQ(open_batches(*other), 0U);
}

// Settled elsewhere although it was claimed to be settled here: a reaper of another process did it.
TEST_F(PostgresClaim, WhatAnotherProcessTookBackIsForgotten) {
  const auto one = open();
  const auto other = open();
  session.must(insert(3, "slow.job"));
  const auto claimed = one->claim({.worker = "w", .ttl = std::chrono::milliseconds{1}});
  ASSERT_TRUE(claimed);
  ASSERT_EQ(claimed->size(), 3U);
  std::vector<store::ExpiredClaim> expired;
  while (expired.size() < 3) expired = *other->expired_claims(10);
  std::vector<store::SettleItem> items;
  for (const auto& claim : expired) items.push_back({claim.claim, settle(0, Outcome::expired(), {}, 0.5), {}, {}});
  ASSERT_EQ(other->settle(items)->settled, 3);
  EXPECT_EQ(session.must("select count(*) from core.claims").value(), "0");
  EXPECT_EQ(open_batches(*one), 0U) << "its time has run out";
}

TEST_F(PostgresClaim, PartsOfABatchThatIsStillInFlightKeepItsClaim) {
  const auto one = open();
  const auto other = open();
  session.must(insert(2, "pull.keyless"));
  const auto claimed = one->claim({.worker = "w", .settled_here = false});
  ASSERT_EQ(claimed->size(), 2U);
  deliver(*other, {claimed->front()});
  EXPECT_EQ(session.must("select count(*) from core.claims").value(), "1");
  deliver(*one, {claimed->back()});
  EXPECT_EQ(session.must("select count(*) from core.claims").value(), "0");
}

TEST_F(PostgresClaim, MarksOfGroupsThatAreGoneArePruned) {
  const auto store = open();
  session.must(insert(50, "demo.hello"));
  drain_until_low_is(*store, "50");
  session.must("insert into core.claim_heads (group_key, head) values ('1', 50), ('7|gone', 9)");
  session.must("insert into core.claim_cursors (group_key, low, generation) values ('7|gone', 9, 7)");
  session.must("update core.claim_cursors set saved_at = now() - interval '8 days'");
  const auto pruned = store->prune({});
  ASSERT_TRUE(pruned) << pruned.error().message;
  EXPECT_EQ(pruned->cursors, 1) << "not the one that this process uses, nor the floor of the keys";
  EXPECT_EQ(session.must("select string_agg(group_key, ',' order by group_key) from core.claim_cursors").value(), ",1");
  EXPECT_EQ(session.must("select string_agg(group_key, ',') from core.claim_heads").value(), "1");

  // Another process, which does not use it; the group comes back and finds what is new.
  session.must("update core.claim_cursors set saved_at = now() - interval '8 days'");
  EXPECT_EQ(open()->prune({})->cursors, 1);
  session.must(insert(3, "demo.hello"));
  const auto back = open();
  EXPECT_EQ(claim(*back).size(), 3U);
}

}  // namespace
}  // namespace sluice::test
