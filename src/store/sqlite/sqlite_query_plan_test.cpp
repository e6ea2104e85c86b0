// No query reads the whole outbox: a long history must cost nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>
#include <vector>

#include "sqlite_sql.hpp"
#include "store/sqlite/payload_terms.hpp"

namespace sluice::store::sqlite {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> plan_of(const sql::Query& query) {
  sqlite3* db = nullptr;
  sqlite3_open(":memory:", &db);
  EXPECT_EQ(add_payload_function(db), SQLITE_OK);
  for (const sql::Migration& migration : sql::migrations) {
    const std::string text{migration.text};
    EXPECT_EQ(sqlite3_exec(db, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  }
  std::vector<std::string> steps;
  const auto collect = [](void* into, int, char** values, char**) {
    static_cast<std::vector<std::string>*>(into)->emplace_back(values[3]);
    return 0;
  };
  const std::string text = "explain query plan " + std::string{query.text};
  EXPECT_EQ(sqlite3_exec(db, text.c_str(), collect, &steps, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
  return steps;
}

class QueryPlan : public testing::TestWithParam<sql::Query> {};

TEST_P(QueryPlan, FindsItsRowsByAnIndex) { EXPECT_THAT(plan_of(GetParam()), Not(Contains("SCAN outbox"))); }

INSTANTIATE_TEST_SUITE_P(
    Queries, QueryPlan,
    testing::Values(sql::claim_fresh, sql::claim_due, sql::claim, sql::settle_delivered, sql::settle_delivered_all,
                    sql::settle_failed, sql::settle_pending, sql::heartbeat, sql::next_due, sql::expired_claims,
                    sql::claims_held_by, sql::event_get, sql::event_list, sql::event_list_failed,
                    sql::event_list_oldest, sql::event_list_failed_oldest, sql::dead_list_oldest, sql::status_counts,
                    sql::status_discarded, sql::replay, sql::discard, sql::cancel, sql::schedule, sql::send_to,
                    sql::edit_payload, sql::ids_from, sql::subscribers_of, sql::restore, sql::retention_count_deletable,
                    sql::retention_delete, sql::retention_count_expired, sql::retention_tombstone, sql::reroute,
                    sql::stop_waiting, sql::holds_claim, sql::unsubscribed, sql::dead_list, sql::dead_count,
                    sql::dead_unacknowledged, sql::dead_count_ahead, sql::failure_groups, sql::plan_dead,
                    sql::plan_discarded, sql::plan_events, sql::plan_moved, sql::operation_next_items,
                    sql::operation_outcomes, sql::patrol_no_claim, sql::patrol_keys, sql::patrol_due,
                    sql::patrol_expire, sql::patrol_make_due, sql::patrol_unwant, sql::patrol_release,
                    sql::patrol_record, sql::gauge_fresh, sql::gauge_waited, sql::gauge_others, sql::overdue,
                    sql::key_blocker),
    [](const testing::TestParamInfo<sql::Query>& query) { return std::string{query.param.name}; });

TEST(ClaimPlan, WalksTheFreshAndTheDueIndexAlone) {
  const auto fresh = plan_of(sql::claim_fresh);
  EXPECT_THAT(fresh, Contains(HasSubstr("outbox_fresh (generation=? AND key_blocked=?)")));
  EXPECT_THAT(fresh, Not(Contains(HasSubstr("TEMP B-TREE"))));
  const auto due = plan_of(sql::claim_due);
  EXPECT_THAT(due, Contains(HasSubstr("outbox_due (generation=? AND key_blocked=? AND retry_after")));
  EXPECT_THAT(due, Not(Contains(HasSubstr("TEMP B-TREE"))));
}

TEST(SettlePlan, GoesToThePlacesThatTheClaimsName) {
  EXPECT_THAT(plan_of(sql::settle_delivered_all),
              Contains(HasSubstr("SEARCH outbox USING INTEGER PRIMARY KEY (rowid=?)")));
}

TEST(NextDuePlan, EntersTheDueIndexAtItsTime) {
  EXPECT_THAT(plan_of(sql::next_due),
              Contains(HasSubstr("outbox_due (generation=? AND key_blocked=? AND retry_after>?)")));
}

TEST(ListPlan, EntersAtThePagesFirstRow) {
  EXPECT_THAT(plan_of(sql::event_list), Contains(HasSubstr("INTEGER PRIMARY KEY (rowid<?)")));
  EXPECT_THAT(plan_of(sql::event_list_failed), Contains(HasSubstr("outbox_failed")));
  EXPECT_THAT(plan_of(sql::event_list_oldest), Contains(HasSubstr("INTEGER PRIMARY KEY (rowid>?)")));
  EXPECT_THAT(plan_of(sql::event_list_failed_oldest), Contains(HasSubstr("outbox_failed")));
}

TEST(DeadLetterPlan, WalksFromTheNewestFailure) {
  for (const sql::Query& query : {sql::dead_list, sql::dead_count, sql::dead_list_oldest}) {
    EXPECT_THAT(plan_of(query), Contains(HasSubstr("outbox_dead (failed_at>? AND failed_at<?)"))) << query.name;
    EXPECT_THAT(plan_of(query), Not(Contains(HasSubstr("TEMP B-TREE")))) << query.name;
  }
}

TEST(DeadLetterPlan, GroupsWalkTheirKindInItsIndex) {
  const auto plan = plan_of(sql::failure_groups);
  EXPECT_THAT(plan, Contains(HasSubstr("outbox_dead_group (group_id=? AND failed_at>?")));
  EXPECT_THAT(plan, Not(Contains("USE TEMP B-TREE FOR GROUP BY")));
}

TEST(OperationPlan, FindsItsItemsInPlace) {
  EXPECT_THAT(plan_of(sql::operation_next_items), Contains(HasSubstr("PRIMARY KEY (operation_id=? AND place>?)")));
  EXPECT_THAT(plan_of(sql::dead_count_ahead), Contains(HasSubstr("PRIMARY KEY (operation_id=? AND place>?)")));
  EXPECT_THAT(plan_of(sql::operation_outcomes), Contains(HasSubstr("operation_items_in_flight (operation_id=?)")));
  EXPECT_THAT(plan_of(sql::operation_runnable), Contains(HasSubstr("operations_running")));
}

TEST(RetentionPlan, EntersTheFinishedIndexByAge) {
  EXPECT_THAT(plan_of(sql::retention_tombstone),
              Contains(HasSubstr("outbox_finished (status=? AND generation=? AND <expr><?)")));
}

}  // namespace
}  // namespace sluice::store::sqlite
