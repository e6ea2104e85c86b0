// Claims under what only PostgreSQL has: open transactions, held snapshots, stale statistics, lost
// cursors.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/integration/claim_fixture.hpp"

namespace sluice::test {
namespace {

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

// A batch of two; the effect of one ends after the other has been settled.
class PostgresClaimOfTwo : public PostgresClaim {
 protected:
  void SetUp() override {
    PostgresClaim::SetUp();
    session.must(insert(2, "a"));
    events_ = claim(*store_);
    ASSERT_EQ(events_.size(), 2U);
  }
  static std::vector<store::SettleItem> item_of(const store::ClaimedEvent& event) {
    return {{.claim = event.claim, .settlement = {}, .handled_by = {}, .idempotency_key = {}}};
  }
  std::unique_ptr<store::EffectTransaction> effect_of(const store::ClaimedEvent& event) {
    auto effect = store_->begin_effect(std::chrono::seconds{60});
    EXPECT_TRUE(effect) << effect.error().message;
    EXPECT_TRUE((*effect)->settle(item_of(event), std::nullopt));
    return std::move(*effect);
  }
  std::string claims() { return session.must("select count(*) from core.claims").value(); }

  std::unique_ptr<store::Store> store_ = open();
  std::vector<store::ClaimedEvent> events_;
};

TEST_F(PostgresClaimOfTwo, AnEffectThatIsUndoneLeavesTheClaimToExpire) {
  auto effect = effect_of(events_[0]);
  deliver(*store_, {events_[1]});
  effect.reset();
  ASSERT_EQ(count("status = 'in_flight'"), "1");
  ASSERT_EQ(claims(), "1") << "without its claim the event would be in flight for ever";
  deliver(*store_, {events_[0]});
  EXPECT_EQ(claims(), "0");
}

TEST_F(PostgresClaimOfTwo, AnEffectThatWasUndoneBeforeLeavesTheClaimToExpire) {
  effect_of(events_[0]).reset();
  deliver(*store_, {events_[1]});
  EXPECT_EQ(claims(), "1");
}

TEST_F(PostgresClaimOfTwo, AnEffectThatCommitsLastClosesTheClaim) {
  const auto effect = effect_of(events_[0]);
  deliver(*store_, {events_[1]});
  ASSERT_TRUE(effect->commit());
  EXPECT_EQ(count("status = 'delivered'"), "2");
  EXPECT_EQ(claims(), "0");
}

TEST_F(PostgresClaimOfTwo, ASettleThatFailedLeavesTheClaimToExpire) {
  session.must("alter function core.claims_forgotten(bigint[]) rename to claims_forgotten_before");
  EXPECT_FALSE(store_->settle(item_of(events_[0])));
  session.must("alter function core.claims_forgotten_before(bigint[]) rename to claims_forgotten");
  deliver(*store_, {events_[1]});
  EXPECT_EQ(claims(), "1");
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

// A claim that is full of what is due says how far it has come: the next one goes on from there, whether or not it
// looks at everything.
TEST_F(PostgresClaim, WhatIsDueIsTakenInPartsWithoutALookAtEverything) {
  const auto store = open(4, std::chrono::hours{1});
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, retry_after) "
      "select 'late', 'worlds', 1, '{}', now() - interval '1 hour' + n * interval '1 minute' from generate_series(1, "
      "20) n");
  for (int part = 1; part <= 4; ++part) EXPECT_EQ(claim(*store, 5).size(), 5U) << part;
}

// A crash may have undone claims of what had become due long ago.
TEST_F(PostgresClaim, AllThatIsDueIsLookedAtAfterAReconnect) {
  const auto store = open(1, std::chrono::hours{1});
  for (int round = 1; round <= 5; ++round) {
    ASSERT_TRUE(claim(*store).empty());
    session.must(
        "insert into core.outbox (event_type, source, generation, payload, retry_after) "
        "values ('late', 'worlds', 1, '{}', now() - interval '1 hour')");
    session.must(
        "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = current_database() and pid <> "
        "pg_backend_pid()");
    // The first one may be told that its connection is gone, or begin before it knows.
    std::vector<store::ClaimedEvent> late;
    for (int tries = 0; tries < 2 && late.empty(); ++tries) {
      if (auto claimed = store->claim({.worker = "w"})) late = *std::move(claimed);
    }
    ASSERT_EQ(late.size(), 1U) << round;
    deliver(*store, late);
  }
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

}  // namespace
}  // namespace sluice::test
