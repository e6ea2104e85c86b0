// Threads of one process that go back over what the scan has passed: one reads everything, the others need not wait for
// it.
#include <gtest/gtest.h>

#include <future>

#include "tests/integration/rescan_fixture.hpp"

namespace sluice::test {
namespace {

TEST_F(PostgresRescan, OneThreadReadsEverythingAndTheOthersGoOn) {
  const auto store = open();
  insert();
  ASSERT_EQ(claim(*store).get(), 1U);
  // Held up in the middle of its rescan.
  SqlSession holder{database.url()};
  hold_rescans(holder);
  auto rescan = claim(*store);
  while (waiting() < 1 && !is_ready(rescan)) {
  }
  ASSERT_FALSE(is_ready(rescan)) << "it was to wait for the lock";
  insert();
  auto another = claim(*store);
  while (waiting() < 2 && !is_ready(another)) {
  }
  const bool went_on = is_ready(another);
  holder.must("rollback");
  EXPECT_TRUE(went_on) << "the second thread waited for the first one's rescan";
  EXPECT_EQ(rescan.get() + another.get(), 1U);
}

TEST_F(PostgresRescan, NumbersThatWereMissingAmongWhatPassedMeanwhileAreRemembered) {
  const auto store = open({}, Duration::zero());
  SqlSession held{database.url()};
  held.must("begin");
  held.must("insert into core.outbox (event_type, source, generation, payload) values ('held', 'worlds', 1, '{}')");
  SqlSession holder{database.url()};
  std::future<std::size_t> rescan;
  // Twice: with the first one the second thread opens its connection.
  for (int turn = 0; turn < 2; ++turn) {
    for (int event = 0; event < 3; ++event) {
      insert();
      claim(*store).get();
    }
    hold_rescans(holder);
    do {
      rescan = claim(*store);
      while (waiting() < 1 && !is_ready(rescan)) {
      }
    } while (is_ready(rescan));
    claim(*store).get();
    if (turn > 0) break;
    holder.must("rollback");
    rescan.get();
    let_rescans_be();
  }
  SqlSession late{database.url()};
  late.must("begin");
  late.must("insert into core.outbox (event_type, source, generation, payload) values ('late', 'worlds', 1, '{}')");
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, status, delivered_at) "
      "select 'passed', 'worlds', 1, '{}', 'delivered', now() from generate_series(1, 5000)");
  claim(*store).get();
  late.must("commit");
  EXPECT_EQ(claim(*store).get(), 1U);
  holder.must("rollback");
  EXPECT_EQ(rescan.get(), 0U);
}

TEST_F(PostgresRescan, WhoLeavesItToAnotherThreadComesBack) {
  const auto store = open();
  SqlSession late{database.url()};
  late.must("begin");
  late.must("insert into core.outbox (event_type, source, generation, payload) values ('late', 'worlds', 1, '{}')");
  insert();
  ASSERT_EQ(claim(*store).get(), 1U);
  SqlSession holder{database.url()};
  hold_rescans(holder);
  auto rescan = claim(*store);
  while (waiting() < 1 && !is_ready(rescan)) {
  }
  ASSERT_EQ(claim(*store).get(), 0U);
  late.must("commit");
  holder.must("rollback");
  std::size_t found = rescan.get();
  for (int tries = 0; tries < 100 && found == 0; ++tries) found = claim(*store).get();
  EXPECT_EQ(found, 1U);
}

TEST_F(PostgresRescan, AfterARescanThatFailedTheNextOneReadsEverything) {
  const auto store = open();
  SqlSession late{database.url()};
  late.must("begin");
  late.must("insert into core.outbox (event_type, source, generation, payload) values ('late', 'worlds', 1, '{}')");
  insert();
  ASSERT_EQ(claim(*store).get(), 1U);
  begin_rescans_with("raise exception 'the disk is full' using errcode = '53100'");
  EXPECT_EQ(claim(*store).get(), 0U);
  let_rescans_be();
  late.must("commit");
  EXPECT_EQ(claim(*store).get(), 1U);
}

TEST_F(PostgresRescan, WhatIsOwedIsOwedToWhoClaims) {
  const auto store = open(std::chrono::hours{1});
  SqlSession late{database.url()};
  late.must("begin");
  late.must("insert into core.outbox (event_type, source, generation, payload) values ('a', 'worlds', 1, '{}')");
  insert();
  while (!claim_of(*store, "a", {"x.two", "x.one"}).empty()) {
  }
  EXPECT_TRUE(is_owed(*store, {"x.two", "x.one"}));
  EXPECT_TRUE(is_owed(*store, {"x.one", "x.two"}));
  EXPECT_TRUE(is_owed(*store, {})) << "asked for everybody";
  EXPECT_FALSE(is_owed(*store, {"x.one"}));
  EXPECT_FALSE(is_owed(*store, {"y.other"}));
}

TEST_F(PostgresRescan, WhatItHeldWhileASettleEndedItTakesItself) {
  const auto store = open();
  const std::string of_one_key =
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) values ('a', 'worlds', 1, '{}', "
      "'k')";
  session.must("select core.subscribe(1, array['a.h'], '[[\"a\"]]', array[null]::text[], array[null]::text[])");
  session.must(of_one_key);
  ASSERT_EQ(claim(*store).get(), 1U);
  for (int i = 0; i < 2; ++i) session.must(of_one_key);
  SqlSession settling{database.url()};
  settling.must("begin");
  EXPECT_EQ(
      settling
          .must("select r.next_seq - o.seq from core.outbox o, core.outbox_acknowledge(array[o.ctid], o.occurred_at, "
                "o.occurred_at, array[o.id], array[o.claim_seq], '{}', '{}', (select value::bigint from core.settings "
                "where key = 'subscriptions_version'), true, true) r where o.status = 'in_flight'")
          .value(),
      "1");
  session.must(
      "create or replace function core.key_floor_advance(p_last bigint) returns void language plpgsql as $$ begin "
      "perform pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1); end $$");
  SqlSession holder{database.url()};
  holder.must("begin");
  holder.must("select pg_advisory_xact_lock(1)");
  auto rescan = claim(*store);
  while (waiting() < 1 && !is_ready(rescan)) {
  }
  ASSERT_FALSE(is_ready(rescan)) << "it was to wait for the lock";
  settling.must("commit");
  holder.must("rollback");
  EXPECT_EQ(rescan.get(), 1U);
}

TEST_F(PostgresRescan, WhoServesAnEventThatWasParkedIsNotified) {
  insert_of_one_key();
  const auto store = open();
  const auto first = claim_of(*store, "a");
  ASSERT_EQ(first.size(), 1U);
  while (session.must("select blocked_since is not null from core.outbox where event_type = 'b'").value() != "t") {
    ASSERT_TRUE(claim_of(*store, "b").empty());
  }
  SqlSession listener{database.url()};
  listener.must("listen outbox_gen_1");
  settle(*store, first.front());
  EXPECT_TRUE(listener.wait_notification());
  EXPECT_EQ(claim_of(*store, "b").size(), 1U);
}

TEST_F(PostgresRescan, WhoServesTheNextEventOfAKeyIsNotifiedOfAFailure) {
  insert_of_one_key();
  const auto store = open();
  const auto first = claim_of(*store, "a");
  ASSERT_EQ(first.size(), 1U);
  SqlSession listener{database.url()};
  listener.must("listen outbox_gen_1");
  settle(*store, first.front(),
         {.next = Status::failed,
          .cause = Cause::fail,
          .counts_attempt = true,
          .records_error = true,
          .last_error = "Test: no",
          .error_class = "Test",
          .fingerprint = "test"});
  EXPECT_TRUE(listener.wait_notification());
  EXPECT_EQ(claim_of(*store, "b").size(), 1U);
}

}  // namespace
}  // namespace sluice::test
