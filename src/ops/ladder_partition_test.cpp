// Partitions without a server: what the doctor says of them, and of a store that has none.
#include "ops/ladder_partition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/doctor_findings.hpp"
#include "tests/support/embedded_store.hpp"
#include "tests/support/event_record.hpp"

namespace sluice::ops {
namespace {

using std::chrono::days;
using testing::HasSubstr;
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
