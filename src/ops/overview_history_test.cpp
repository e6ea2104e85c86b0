#include "ops/overview_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/event_record.hpp"

namespace sluice::ops {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Counts = std::array<std::uint64_t, 4>;
using testing::SizeIs;

const Timestamp kStart{std::chrono::seconds{1'800'000'000}};  // a whole number of hours

OverviewPoint point(Duration at, std::int64_t delivered = 1) {
  OverviewPoint made;
  made.at = kStart + at;
  made.backlog = delivered;
  made.delivered = delivered;
  return made;
}

TEST(OverviewHistory, KeepsADayAndNoMore) {
  OverviewHistory history{10s, 24h};
  for (int n = 0; n < 9000; ++n) history.add(point(n * 10s));
  EXPECT_EQ(history.points().size(), 8640U);
  EXPECT_EQ(history.points().front().at, kStart + 3600s);
}

TEST(OverviewHistory, AnHourIsShownPointByPoint) {
  OverviewHistory history{10s, 24h};
  for (int n = 0; n < 1000; ++n) history.add(point(n * 10s));
  const auto series = history.series(kStart + 9990s, 1h, 360);
  EXPECT_EQ(series.interval, 10s);
  EXPECT_EQ(series.points.size(), 360U);
  EXPECT_EQ(series.points.back().at, kStart + 9990s);
}

TEST(OverviewHistory, ADayIsDrawnTogether) {
  OverviewHistory history{10s, 24h};
  for (int n = 0; n < 8640; ++n) history.add(point(n * 10s));
  const auto series = history.series(kStart + 24h - 10s, 24h, 360);
  EXPECT_EQ(series.interval, 240s);
  EXPECT_EQ(series.points.size(), 360U);
  for (const auto& one : series.points) {
    EXPECT_EQ(one.delivered, 24);
    EXPECT_EQ(one.at.time_since_epoch() % 240s, 0s);
  }
}

TEST(OverviewHistory, TogetherCountsAreSumsAndHeightsArePeaks) {
  OverviewHistory history{10s, 24h};
  OverviewPoint low = point(0s, 2);
  low.lag_seconds = 1;
  low.latencies = {1, 0};
  OverviewPoint high = point(10s, 7);
  high.lag_seconds = 5;
  high.failed = 3;
  high.published = 4;
  high.latencies = {2, 5};
  history.add(low);
  history.add(high);
  const auto series = history.series(kStart + 20s, 6h, 360);
  ASSERT_EQ(series.points.size(), 1U);
  const OverviewPoint& both = series.points.front();
  EXPECT_EQ(both.delivered, 9);
  EXPECT_EQ(both.failed, 3);
  EXPECT_EQ(both.published, 4);
  EXPECT_EQ(both.backlog, 7);
  EXPECT_EQ(both.lag_seconds, 5);
  EXPECT_THAT(both.latencies, ElementsAre(3, 5));
}

TEST(OverviewHistory, AGapStaysAGap) {
  OverviewHistory history{10s, 24h};
  history.add(point(0s));
  history.add(point(30min));
  EXPECT_EQ(history.series(kStart + 31min, 1h, 360).points.size(), 2U);
  EXPECT_THAT(history.series(kStart + 3h, 1h, 360).points, IsEmpty());
}

TEST(OverviewHistory, AClockThatIsSetBackTakesItsPointsAlong) {
  OverviewHistory history{10s, 24h};
  history.add(point(0s));
  history.add(point(100s));
  history.add(point(50s));
  ASSERT_EQ(history.points().size(), 2U);
  EXPECT_EQ(history.points().back().at, kStart + 50s);
}

constexpr std::array<double, 3> kBounds{0.1, 1, 10};

TEST(Quantile, NothingWasCounted) { EXPECT_EQ(quantile(kBounds, Counts{}, 0.5), std::nullopt); }

TEST(Quantile, IsSpreadEvenlyWithinItsBucket) {
  const Counts counts{0, 100, 0, 0};
  EXPECT_NEAR(*quantile(kBounds, counts, 0.5), 0.55, 1e-9);
  EXPECT_NEAR(*quantile(kBounds, counts, 1.0), 1.0, 1e-9);
}

TEST(Quantile, StartsAtZero) { EXPECT_NEAR(*quantile(kBounds, Counts{10, 0, 0, 0}, 0.5), 0.05, 1e-9); }

TEST(Quantile, LiesInTheBucketThatReachesTheShare) {
  const Counts counts{90, 5, 5, 0};
  EXPECT_LE(*quantile(kBounds, counts, 0.5), 0.1);
  EXPECT_NEAR(*quantile(kBounds, counts, 0.95), 1.0, 1e-9);
  EXPECT_GT(*quantile(kBounds, counts, 0.99), 1.0);
}

TEST(Quantile, WhatIsBeyondTheLastBoundCountsAsIt) { EXPECT_EQ(quantile(kBounds, Counts{0, 0, 0, 7}, 0.5), 10.0); }

store::AuditRecord record(Duration at, std::string action, std::string detail = "{}", std::int64_t count = 1) {
  store::AuditRecord made;
  made.at = test::kStart + at;
  made.actor.name = "ann";
  made.action = std::move(action);
  made.detail = std::move(detail);
  made.count = count;
  return made;
}

TEST(OverviewMarks, GenerationsAndReplaysAreMarkedOldestFirst) {
  const auto marks = marks_of({
      record(30s, "replay.bulk", R"({"operation_id":"op1","filter":""})", 300),
      record(20s, "discard"),
      record(10s, "generation.activate", R"({"generation":2})"),
  });
  ASSERT_THAT(marks, SizeIs(2));
  EXPECT_EQ(marks[0].kind, "generation");
  EXPECT_EQ(marks[0].text, "generation 2: activate by ann");
  EXPECT_EQ(marks[0].link, "/generations");
  EXPECT_EQ(marks[1].text, "replay of 300 events by ann");
  EXPECT_EQ(marks[1].link, "/operations/op1");
  EXPECT_EQ(to_json(marks[1]),
            R"({"at":")" + to_iso8601(test::kStart + 30s) +
                R"(","kind":"replay","text":"replay of 300 events by ann","link":"/operations/op1"})");
}

TEST(OverviewMarks, SingleReplaysOfOnePersonAreOneMark) {
  auto other = record(0s, "replay");
  other.actor.name = "bob";
  other.event_id = *Uuid::parse("0196b2f1-7c1e-7a3b-9d2e-000000000001");
  const auto marks = marks_of({record(60s, "replay"), record(50s, "replay"), other});
  ASSERT_THAT(marks, SizeIs(2));
  EXPECT_EQ(marks[0].text, "1 event replayed by bob");
  EXPECT_EQ(marks[0].link, "/events/0196b2f1-7c1e-7a3b-9d2e-000000000001");
  EXPECT_EQ(marks[1].text, "2 events replayed by ann");
  EXPECT_EQ(marks[1].at, test::kStart + 50s);
}

TEST(OverviewMarks, SingleReplaysFarApartAreNot) {
  EXPECT_THAT(marks_of({record(20min, "replay"), record(0s, "replay")}), SizeIs(2));
}

TEST(OverviewMarks, ADetailWrittenByHandDoesNoHarm) {
  const auto marks = marks_of({record(0s, "generation.drain", "not json")});
  ASSERT_THAT(marks, SizeIs(1));
  EXPECT_EQ(marks[0].text, "generation : drain by ann");
  EXPECT_THAT(marks_of({record(0s, "acknowledge")}), IsEmpty());
}

}  // namespace
}  // namespace sluice::ops
