// Dead letters among many delivered events: lists, groups and counts come from indexes that hold dead letters only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/query_plan.hpp"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class PostgresTriagePlans : public testing::Test {
 protected:
  PostgresTriagePlans() {
    session_.must(
        "alter table core.outbox disable trigger outbox_notify;"
        "insert into core.outbox (event_type, source, target, generation, payload, idempotency_key, status, claim_seq, "
        "claimed_at, "
        "delivered_at, last_error, failure_class, fingerprint)"
        "select 'orders.' || n % 4, 'shop', 'billing', 1, '{}', n::text, case when n % 10 = 0 then 'failed' else "
        "'delivered' end, 1,"
        " now(), case when n % 10 <> 0 then now() end, 'TimeoutError: ' || n, 'TimeoutError', 'fp' || n % 3 "
        "from generate_series(1, 30000) n");
    session_.must("vacuum analyze core.outbox");
    session_.must("analyze core.failure_groups");
  }

  // What the planner does with a query of the adapter under this filter.
  std::string plan(const std::string& query, const std::string& filter) {
    return plan_of(session_, query,
                   {{"$1::jsonb", "'" + filter + "'::jsonb"},
                    {"$2::timestamptz", "null::timestamptz"},
                    {"$3::bigint", "null::bigint"},
                    {"$4::int", "51"},
                    {"$5::boolean", "true"},
                    {"$2::bigint", "1000000"},
                    {"$2::uuid", "'0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e'::uuid"}});
  }

  PostgresDatabase database_;
  SqlSession session_{database_.url()};
};

TEST_F(PostgresTriagePlans, GroupsAreCountedWithoutTheTable) {
  EXPECT_THAT(plan("failure_groups", "{}"), AllOf(HasSubstr("Index Only Scan using outbox_dead_kinds on outbox"),
                                                  Not(HasSubstr("Seq Scan on outbox"))));
  EXPECT_THAT(plan("failure_groups", R"({"since":"2026-01-01T00:00:00Z","error_class":"timeout"})"),
              Not(HasSubstr("Seq Scan on outbox")));
}

TEST_F(PostgresTriagePlans, CountsAreTakenFromTheSmallIndex) {
  EXPECT_THAT(plan("dead_count", R"({"event_type":"orders.1"})"),
              AllOf(HasSubstr("outbox_dead_kinds"), Not(HasSubstr("Seq Scan on outbox"))));
}

TEST_F(PostgresTriagePlans, WhatIsAheadOfAnOperationIsCountedWithoutTheTable) {
  EXPECT_THAT(plan("dead_count_ahead", R"({"event_type":"orders.1"})"), Not(HasSubstr("Seq Scan on outbox")));
}

TEST_F(PostgresTriagePlans, APageIsReadInOrder) {
  EXPECT_THAT(plan("dead_list", "{}"),
              AllOf(HasSubstr("Index Scan Backward using outbox_dead on outbox"), Not(HasSubstr("Sort"))));
  // With few rows of a kind the planner may sort them; it never reads the table for it.
  EXPECT_THAT(plan("dead_list_of_groups", R"({"fingerprint":"fp1"})"),
              AllOf(HasSubstr("outbox_dead_"), Not(HasSubstr("Seq Scan on outbox"))));
}

}  // namespace
}  // namespace sluice::test
