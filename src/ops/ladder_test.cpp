#include "ops/ladder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/doctor_findings.hpp"
#include "tests/support/embedded_store.hpp"
#include "tests/support/event_record.hpp"

namespace sluice::ops {
namespace {

using testing::HasSubstr;

TEST(LadderStatus, ANewFileHasNoHistory) {
  test::EmbeddedStore store;
  const auto report = report_ladder(*store);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->verdict.due);
  EXPECT_EQ(report->verdict.known_since, report->now);
  EXPECT_EQ(value_text(report->verdict.triggers.front()), "-");
  EXPECT_EQ(threshold_text(report->verdict.triggers.front()), "5.0M rows");
  EXPECT_THAT(to_json(*report), HasSubstr(R"("stage":"embedded")"));
  EXPECT_THAT(to_json(*report), HasSubstr(R"("due":null)"));
}

TEST(LadderStatus, AWeekOfHoursInTheFileMakesTheMoveDue) {
  test::EmbeddedStore store;
  for (int hour = 0; hour <= 7 * 24; ++hour) {
    ASSERT_TRUE(store->record_ladder({.rows = 6'000'000}));
    if (hour < 7 * 24) store.now += std::chrono::hours{1};
  }
  store.now += std::chrono::minutes{1};
  const auto report = report_ladder(*store);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict.due, LadderStep::postgres);
  EXPECT_EQ(value_text(report->verdict.triggers.front()), "6.0M rows");
  EXPECT_THAT(to_json(*report), HasSubstr(R"("due":{"step":"move","command":"sluice move)"));
  store.now += std::chrono::hours{5};
  EXPECT_FALSE(report_ladder(*store)->verdict.due) << "nobody has looked for five hours";
}

TEST(LadderStatus, PartitionsAreAStageOfAServer) {
  store::Diagnosis diagnosis;
  EXPECT_TRUE(stage_of(diagnosis, {.embedded = true}, {}).embedded);
  diagnosis.server.emplace();
  diagnosis.server->outbox = store::TableFacts{.partitioned = true};
  EXPECT_TRUE(stage_of(diagnosis, {}, {}).partitioned);
}

TEST(LadderStatus, ARelayIsAStageWhileItCarriesTheDeliveries) {
  for (const store::RelayState state : {store::RelayState::on, store::RelayState::draining}) {
    EXPECT_EQ(name(stage_of({}, {}, {.state = state, .broker = "nats"})), "relayed");
  }
  EXPECT_EQ(name(stage_of({}, {}, {})), "one_table");
  EXPECT_EQ(name(LadderStage{.partitioned = true, .relayed = true}), "relayed");
}

// Partitions without a server: what the doctor says of them, and of a store that has none.

using std::chrono::days;
using testing::IsEmpty;

std::vector<Finding> partition_findings(store::PartitionLayout layout) {
  DoctorFacts facts;
  facts.now = test::kStart;
  facts.diagnosis.partitions = std::move(layout);
  Findings findings;
  judge_partitions(facts, findings);
  return std::move(findings).take();
}

/// The month that many months from test::kStart.
Timestamp month_at(int months) {
  const std::chrono::year_month_day date{std::chrono::floor<days>(test::kStart)};
  return Timestamp{std::chrono::sys_days{(date.year() / date.month() + std::chrono::months{months}) / 1}};
}
store::Partition a_month(int months) {
  return {.name = "outbox_month", .since = month_at(months), .until = month_at(months + 1)};
}
store::Partition the_default(std::int64_t rows) {
  return {.name = "outbox_default", .since = {}, .until = {}, .is_default = true, .rows = rows};
}

TEST(DoctorPartitions, OfOneTableThereIsNothingToSay) { EXPECT_THAT(partition_findings({}), IsEmpty()); }

TEST(DoctorPartitions, TheNextMonthMustBeThere) {
  const auto well = partition_findings({.partitioned = true, .partitions = {a_month(0), a_month(1), the_default(0)}});
  ASSERT_EQ(well.size(), 1U);
  EXPECT_EQ(well[0].severity, Severity::ok);
  const auto missing = partition_findings({.partitioned = true, .partitions = {a_month(0), the_default(0)}});
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].id, FindingId::partition_missing);
  EXPECT_EQ(missing[0].severity, Severity::warning);
  EXPECT_THAT(missing[0].title, HasSubstr(month_text(month_at(1))));
}

TEST(DoctorPartitions, TheDefaultOneHoldsNothing) {
  const auto found = partition_findings({.partitioned = true, .partitions = {a_month(1), the_default(7)}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].id, FindingId::partition_default);
  EXPECT_EQ(found[1].severity, Severity::warning);
  EXPECT_THAT(found[1].title, HasSubstr("7 events"));
}

TEST(DoctorPartitions, WhatWasBegunIsToBeFinished) {
  for (const auto& [ahead, severity] : {std::pair{days{20}, Severity::warning}, {days{2}, Severity::critical}}) {
    const auto found = partition_findings({.boundary = test::kStart + ahead});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].id, FindingId::partition_unfinished);
    EXPECT_EQ(found[0].severity, severity);
    EXPECT_THAT(found[0].fix, HasSubstr("--abandon"));
  }
}

TEST(LadderPartition, AnEmbeddedStoreHasNoPartitions) {
  test::EmbeddedStore store;
  const PartitionVoice silent{[](const std::string&) {}, [](Duration) { return true; }};
  const Error refused = partition_events(*store, {}, silent).error();
  EXPECT_EQ(refused.field, "store");
  EXPECT_THAT(refused.message, HasSubstr("need PostgreSQL"));
  EXPECT_EQ(plan_partition(*store, {}).error().message, refused.message);
  EXPECT_EQ(abandon_partition(*store, {}).error().message, refused.message);
  EXPECT_FALSE(*(*store).keep_partitions({}, false, {}));
}

}  // namespace
}  // namespace sluice::ops
