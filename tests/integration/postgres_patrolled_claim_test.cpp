// What no claim would ever find on PostgreSQL, and the patrol does.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/integration/claim_fixture.hpp"

namespace sluice::test {
namespace {

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

}  // namespace
}  // namespace sluice::test
