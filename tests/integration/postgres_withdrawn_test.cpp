// Subscriptions that are withdrawn while somebody decides for whom an event waits.
#include <gtest/gtest.h>

#include <future>
#include <string>

#include "tests/integration/claim_fixture.hpp"

namespace sluice::test {
namespace {

class PostgresWithdrawn : public PostgresClaim {
 protected:
  void SetUp() override {
    PostgresClaim::SetUp();
    session.must(subscribe_ +
                 "array['a.h1', 'b.h2'], '[[\"*\"], [\"*\"]]', array[null, null]::text[], array[null, null]::text[])");
  }

  /// Withdraws b.h2 on a connection of its own; it is to wait for what `other` has begun.
  void withdraw_while(SqlSession& other,
                      const std::string& statement = "select core.unsubscribe(1, 'b.h2', 'me', 'sql', '')") {
    auto withdrawn = std::async(std::launch::async, [&] { SqlSession{database.url()}.must(statement); });
    const auto is_over = [&] { return withdrawn.wait_for(std::chrono::seconds{0}) == std::future_status::ready; };
    while (!is_over() &&
           session.must("select count(*) from pg_locks where locktype = 'advisory' and not granted and database = "
                        "(select oid from pg_database where datname = current_database())")
                   .value() == "0") {
    }
    EXPECT_FALSE(is_over()) << "it did not wait";
    other.must("commit");
    withdrawn.get();
  }
  /// Nobody waits for b.h2.
  void expect_freed() {
    EXPECT_EQ(
        count("status = 'pending' and coalesce(lane, '') = '' and coalesce(progress::text, '') not like '%b.h2%'"),
        "1");
    EXPECT_EQ(claim(*open()).size(), 1U);
  }

  std::string subscribe_ = "select core.subscribe(1, ";
};

// As a worker does that hosts a.h1 alone.
std::string gives_back_for_b(const store::ClaimedEvent& event) {
  const std::string id = event.envelope.event_id().to_string();
  const std::string batch = "array[" + std::to_string(event.claim.batch) + "]::bigint[]";
  return "select * from core.outbox_settle('{}', null, null, '{}', '{}', " + batch + ", " + batch + ", array['" + id +
         "']::uuid[], array[" + std::to_string(event.claim.claim_seq) +
         "]::bigint[], array['pending'], array[false], array[false], array[interval '0'], array[now()], "
         "array[null]::text[], "
         "array[null]::text[], array[null]::text[], array[jsonb_build_array(jsonb_build_object('handler', 'b.h2', "
         "'attempts', 0, "
         "'due', now()))], array['b'], '{}', '{}', '{}', "
         "(select value::bigint from core.settings where key = 'subscriptions_version'), true)";
}

TEST_F(PostgresWithdrawn, ASettleThatIsUnderWayIsWaitedFor) {
  session.must(insert(1, "a"));
  const auto claimed = claim(*open());
  ASSERT_EQ(claimed.size(), 1U);
  SqlSession settling{database.url()};
  settling.must("begin");
  settling.must(gives_back_for_b(claimed.front()));
  withdraw_while(settling);
  expect_freed();
}

TEST_F(PostgresWithdrawn, SoItIsByWhoWantsLess) {
  session.must(insert(1, "a"));
  const auto claimed = claim(*open());
  ASSERT_EQ(claimed.size(), 1U);
  SqlSession settling{database.url()};
  settling.must("begin");
  settling.must(gives_back_for_b(claimed.front()));
  withdraw_while(settling, subscribe_ + "array['b.h2'], '[[\"b\"]]', array[null]::text[], array[null]::text[])");
  expect_freed();
}

TEST_F(PostgresWithdrawn, WhatIsBeingSentAgainIsWaitedFor) {
  session.must(insert(1, "a"));
  const auto store = open();
  deliver(*store, claim(*store));
  SqlSession sending{database.url()};
  sending.must("begin");
  sending.must("select core.outbox_send_to(id, 'b.h2', 'delivered', 1, 'me', 'sql', 'again') from core.outbox");
  withdraw_while(sending);
  expect_freed();
}

TEST_F(PostgresWithdrawn, WhatIsBeingRestoredIsWaitedFor) {
  session.must(insert(1, "a"));
  const auto claimed = claim(*open());
  ASSERT_EQ(claimed.size(), 1U);
  session.must(gives_back_for_b(claimed.front()));
  session.must("select core.outbox_cancel(id, 'me', 'sql', 'not now') from core.outbox");
  SqlSession restoring{database.url()};
  restoring.must("begin");
  restoring.must("select core.outbox_restore(id, 'now') from core.outbox");
  withdraw_while(restoring);
  expect_freed();
}

// A transaction that settles and does not end keeps nobody waiting for ever, nor those who settle meanwhile.
TEST_F(PostgresWithdrawn, WhoWithdrawsGivesUpAndSaysWhomItWaitedFor) {
  SqlSession settling{database.url()};
  settling.must("begin");
  settling.must("select core.subscriptions_hold()");
  SqlSession operating{database.url()};
  const auto refused = operating.run("select core.unsubscribe(1, 'b.h2', 'me', 'sql', '')");
  ASSERT_FALSE(refused.error.empty());
  EXPECT_NE(refused.error.find("does not end (process " + settling.must("select pg_backend_pid()").value()),
            std::string::npos)
      << refused.error;
  EXPECT_EQ(session.must("select count(*) from core.subscriptions").value(), "2");
}

// Programs without a time write that of the year 1.
TEST_F(PostgresWithdrawn, ATimeBeforeAllTimesIsDue) {
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, retry_after) "
      "values ('a', 'worlds', 1, '{}', '0001-01-01 00:00:00+00')");
  EXPECT_EQ(claim(*open()).size(), 1U);
}

TEST_F(PostgresWithdrawn, WhatWaitsBehindEventsThatAreMovedAwayIsLookedAtAgain) {
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) "
      "select 'a', 'worlds', n, '{}', 'k' from generate_series(1, 2) n");
  session.must("select core.subscribe(2, array['c.h3'], '[[\"*\"]]', array[null]::text[], array[null]::text[])");
  session.must("select core.outbox_park(array[id]) from core.outbox where generation = 2");
  ASSERT_EQ(count("blocked_since is not null"), "1");
  session.must("select core.outbox_reroute(1, 7, 10, 'me', 'sql', 'away')");
  EXPECT_EQ(count("blocked_since is not null"), "0");
  EXPECT_EQ(count("generation = 2 and retry_after <= now()"), "1");
}

}  // namespace
}  // namespace sluice::test
