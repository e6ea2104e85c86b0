// What an operator asks while a table is large: what is live is found exactly and without reading it, what is finished
// may be an estimate that is called one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/generations_retire.hpp"
#include "store/postgres/postgres_store.hpp"
#include "tests/integration/query_plan.hpp"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

const store::Actor kAlice{"alice", "cli", "test"};

std::unique_ptr<store::Store> open(const std::string& url) {
  store::PostgresOptions options;
  options.dsn = url;
  auto store = store::open_postgres(options);
  EXPECT_TRUE(store);
  return *std::move(store);
}

store::StatusCount count_of(const store::StoreStatus& status, Status state, Generation generation = 1) {
  for (const store::StatusCount& each : status.counts) {
    if (each.status == state && each.generation == generation) return each;
  }
  return {};
}

constexpr const char* kPending =
    "insert into core.outbox (event_type, source, generation, payload) values ('orders.placed', 'shop', 1, '{}')";

/// Rows that fill a page each, so that few of them make a large table: beyond what is read to count it.
class PostgresLargeStatus : public testing::Test {
 protected:
  static constexpr int kRows = 18'000;

  PostgresLargeStatus() {
    session_.must("alter table core.outbox disable trigger user");
    session_.must("alter table core.outbox set (fillfactor = 10, autovacuum_enabled = off)");
    session_.must(
        "insert into core.outbox (event_type, source, generation, payload, idempotency_key, status, claim_seq, "
        "claimed_at, "
        "delivered_at, failed_at, group_id)"
        "select 'orders.placed', 'shop', 1, jsonb_build_object('note', repeat(md5(n::text), 40)), n::text, "
        "case when n % 9 = 0 then 'failed' else 'delivered' end, 1, now(), case when n % 9 <> 0 then now() end, "
        "case when n % 9 = 0 then now() end, case when n % 9 = 0 then 1 end from generate_series(1, " +
        std::to_string(kRows) + ") n");
    session_.must("alter table core.outbox enable trigger user");
    session_.must("vacuum analyze core.outbox");
  }

  std::string plan(const std::string& query, const PlanParameters& parameters = {}) {
    return plan_of(session_, query, parameters);
  }

  PostgresDatabase database_;
  SqlSession session_{database_.url()};
  std::unique_ptr<store::Store> store_ = open(database_.url());
};

TEST_F(PostgresLargeStatus, WhatIsFinishedIsAnEstimateThatIsCalledOne) {
  const auto status = store_->status().value();
  const auto delivered = count_of(status, Status::delivered);
  EXPECT_TRUE(delivered.estimated);
  EXPECT_NEAR(static_cast<double>(delivered.count), kRows * 8 / 9.0, kRows / 20.0);
  EXPECT_EQ(store_->status().value().counts.size(), status.counts.size());
  EXPECT_EQ(count_of(store_->status().value(), Status::delivered).count, delivered.count) << "it does not flicker";
  EXPECT_FALSE(count_of(status, Status::failed).estimated) << "they are few";
  EXPECT_EQ(count_of(status, Status::failed).count, kRows / 9);
  EXPECT_FALSE(status.discarded_estimated);
}

TEST_F(PostgresLargeStatus, WhatIsDiscardedIsCounted) {
  session_.must("update core.outbox set deleted_at = now() where seq <= 18");
  const auto status = store_->status().value();
  EXPECT_EQ(status.discarded, 2) << "the others were delivered";
  EXPECT_EQ(count_of(status, Status::failed).count, kRows / 9 - 2);
}

TEST_F(PostgresLargeStatus, WhatIsPendingIsExactHoweverOldItIs) {
  session_.must("alter table core.outbox disable trigger user");
  session_.must("update core.outbox set status = 'pending', claimed_at = null, delivered_at = null where seq = 17");
  session_.must("alter table core.outbox enable trigger user");
  session_.must(kPending);
  const auto other = open(database_.url());
  for (store::Store* store : {store_.get(), other.get()}) {
    for (int round = 0; round < 3; ++round) {
      const auto pending = count_of(store->status().value(), Status::pending);
      EXPECT_EQ(pending.count, 2) << round;
      EXPECT_FALSE(pending.estimated);
      EXPECT_EQ(store->unsubscribed().value().at(0).count, 2) << round;
      EXPECT_THAT(store->list_events({.status = Status::pending}, 10, {}).value().events, SizeIs(2)) << round;
    }
  }
}

TEST_F(PostgresLargeStatus, NothingIsRetiredWhileAnEventIsLive) {
  ASSERT_TRUE(store_->allocate_generation(1, "", kAlice));
  ASSERT_TRUE(store_->move_generation(1, GenerationState::live, kAlice));
  ASSERT_TRUE(store_->move_generation(1, GenerationState::draining, kAlice));
  const auto retirable = [&] { return ops::check_retire(*store_, 1).value().retirable(); };
  EXPECT_TRUE(retirable());
  session_.must(kPending);
  EXPECT_FALSE(retirable()) << "never claimed";
  const auto claimed = store_->claim({.generation = 1, .worker = "w1", .limit = 1}).value();
  ASSERT_THAT(claimed, SizeIs(1));
  EXPECT_FALSE(retirable()) << "in flight";
  session_.must(
      "update core.outbox set status = 'pending', retry_after = now() + interval '1 h' where status = 'in_flight'");
  EXPECT_FALSE(retirable()) << "waits";
  session_.must(
      "update core.outbox set status = 'in_flight', claim_seq = claim_seq + 1, retry_after = null where status = "
      "'pending'");
  session_.must("update core.outbox set status = 'delivered', delivered_at = now() where status = 'in_flight'");
  EXPECT_TRUE(retirable());
}

TEST_F(PostgresLargeStatus, LiveEventsAreFoundByIndexes) {
  const auto found_by = [](const char* index) {
    return AllOf(HasSubstr(index), Not(HasSubstr("Seq Scan on outbox")), Not(HasSubstr("Seq Scan on core.outbox")));
  };
  EXPECT_THAT(plan("overdue", {{"$1::bigint[]", "'{1,1}'::bigint[]"},
                               {"$2::bigint[]", "'{1,2}'::bigint[]"},
                               {"$3::interval", "interval '5 minutes'"},
                               {"$4::interval", "interval '30 seconds'"},
                               {"$5::int", "20"},
                               {"$6::int", "1000"}}),
              AllOf(found_by("outbox_scan"), HasSubstr("outbox_waiting")));
  EXPECT_THAT(plan("sequence_check"), AllOf(HasSubstr("outbox_scan"), Not(HasSubstr("Seq Scan on outbox o"))));
  EXPECT_THAT(
      plan("status_pending", {{"$1::bigint", "1"}, {"$2::bigint[]", "'{1,2}'::bigint[]"}, {"$3::int", "20000"}}),
      AllOf(found_by("outbox_scan"), HasSubstr("outbox_waiting")));
  EXPECT_THAT(plan("gauge_in_flight"), found_by("outbox_scan"));
  EXPECT_THAT(plan("waiting_numbers", {{"$1::int", "20001"}}), found_by("outbox_waiting"));
  EXPECT_THAT(
      plan("unsubscribed",
           {{"$1::bigint[]", "'{1,1}'::bigint[]"}, {"$2::bigint[]", "'{1,2}'::bigint[]"}, {"$3::boolean", "false"}}),
      AllOf(found_by("outbox_scan"), HasSubstr("outbox_waiting")));
  EXPECT_THAT(plan("status_discarded", {{"$1::int", "10001"}}), found_by("outbox_tombstones"));
}

/// Workers come and go quicker than statistics are taken: the planner believes in thousands of claims that are gone.
TEST_F(PostgresLargeStatus, ExpiredClaimsAreFoundByTheirNumbersWhateverStatisticsSay) {
  session_.must(
      "insert into core.claims (worker, generation, ttl, expires_at, seqs) select 'w', 1, interval '30 s', now() + "
      "interval '30 s' * sign(i % 2 - 0.5), array[i] from generate_series(1, 3000) i");
  session_.must("analyze core.claims");
  EXPECT_THAT(plan("diagnose_claims", {{"$1::int", "100"}}),
              AllOf(HasSubstr("outbox_scan"), Not(HasSubstr("Seq Scan on outbox")), Not(HasSubstr("Parallel"))));
}

TEST_F(PostgresLargeStatus, FinishedEventsAreSampled) {
  EXPECT_THAT(plan("status_finished", {{"$1::int", "16000"}, {"$2::int", "4000"}}),
              AllOf(HasSubstr("Sample Scan on outbox"), Not(HasSubstr("Seq Scan on outbox"))));
}

TEST_F(PostgresLargeStatus, AListOfWhatIsInFlightReadsNothingElse) {
  PlanParameters parameters{{"$18::boolean", "true"},
                            {"$21::bigint[]", "'{1,1}'::bigint[]"},
                            {"$22::bigint[]", "'{1,2}'::bigint[]"},
                            {"$23::boolean", "false"},
                            {"$19::text", "null::text"},
                            {"$20::text", "null::text"},
                            {"= $20)", "= null)"},
                            {"$12::int", "51"},
                            {"$2::text", "'in_flight'::text"},
                            {"= $2)", "= 'in_flight')"},
                            {"$3::boolean", "false"},
                            {"$1::bigint", "null::bigint"},
                            {"o.seq > $1", "o.seq > null"},
                            {"o.seq < $1", "o.seq < null"}};
  for (const int number : {4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17}) {
    parameters.emplace_back("$" + std::to_string(number) + "::", "null::");
  }
  for (const int number : {17, 16, 15, 14, 13, 11, 10, 9, 8, 7, 6, 5, 4}) {
    parameters.emplace_back("$" + std::to_string(number), "null");
  }
  EXPECT_THAT(plan("event_list_among", parameters),
              AllOf(HasSubstr("outbox_scan"), Not(HasSubstr("Seq Scan on outbox"))));
}

/// Ids of transactions are drawn before numbers: the one with the larger id may hold the smaller number.
TEST(PostgresStatus, AnEventOfAYoungerTransactionThatIsCommittedLateIsCounted) {
  PostgresDatabase database;
  const auto store = open(database.url());
  SqlSession elder{database.url()};
  SqlSession younger{database.url()};
  elder.must("begin");
  elder.must("select pg_current_xact_id()");
  younger.must("begin");
  younger.must(kPending);
  elder.must(kPending);
  elder.must("commit");
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(count_of(store->status().value(), Status::pending).count, 1) << round;
    EXPECT_EQ(store->gauges().value().generations.at(0).due, 1) << round;
  }
  younger.must("commit");
  EXPECT_EQ(count_of(store->status().value(), Status::pending).count, 2);
  EXPECT_EQ(store->gauges().value().generations.at(0).due, 2);
}

}  // namespace
}  // namespace sluice::test
