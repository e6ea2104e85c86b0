#include "ops/overview_ring.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::ops {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const Timestamp kStart{std::chrono::seconds{1'800'000'000}};  // a whole number of hours

OverviewPoint point(Duration at, std::int64_t delivered = 1) {
  OverviewPoint made;
  made.at = kStart + at;
  made.backlog = delivered;
  made.delivered = delivered;
  return made;
}

TEST(OverviewRing, KeepsADayAndNoMore) {
  OverviewRing ring{10s, 24h};
  for (int n = 0; n < 9000; ++n) ring.add(point(n * 10s));
  EXPECT_EQ(ring.points().size(), 8640U);
  EXPECT_EQ(ring.points().front().at, kStart + 3600s);
}

TEST(OverviewRing, AnHourIsShownPointByPoint) {
  OverviewRing ring{10s, 24h};
  for (int n = 0; n < 1000; ++n) ring.add(point(n * 10s));
  const auto series = ring.series(kStart + 9990s, 1h, 360);
  EXPECT_EQ(series.interval, 10s);
  EXPECT_EQ(series.points.size(), 360U);
  EXPECT_EQ(series.points.back().at, kStart + 9990s);
}

TEST(OverviewRing, ADayIsDrawnTogether) {
  OverviewRing ring{10s, 24h};
  for (int n = 0; n < 8640; ++n) ring.add(point(n * 10s));
  const auto series = ring.series(kStart + 24h - 10s, 24h, 360);
  EXPECT_EQ(series.interval, 240s);
  EXPECT_EQ(series.points.size(), 360U);
  for (const auto& one : series.points) {
    EXPECT_EQ(one.delivered, 24);
    EXPECT_EQ(one.at.time_since_epoch() % 240s, 0s);
  }
}

TEST(OverviewRing, TogetherCountsAreSumsAndHeightsArePeaks) {
  OverviewRing ring{10s, 24h};
  OverviewPoint low = point(0s, 2);
  low.lag_seconds = 1;
  low.latencies = {1, 0};
  OverviewPoint high = point(10s, 7);
  high.lag_seconds = 5;
  high.failed = 3;
  high.published = 4;
  high.latencies = {2, 5};
  ring.add(low);
  ring.add(high);
  const auto series = ring.series(kStart + 20s, 6h, 360);
  ASSERT_EQ(series.points.size(), 1U);
  const OverviewPoint& both = series.points.front();
  EXPECT_EQ(both.delivered, 9);
  EXPECT_EQ(both.failed, 3);
  EXPECT_EQ(both.published, 4);
  EXPECT_EQ(both.backlog, 7);
  EXPECT_EQ(both.lag_seconds, 5);
  EXPECT_THAT(both.latencies, ElementsAre(3, 5));
}

TEST(OverviewRing, AGapStaysAGap) {
  OverviewRing ring{10s, 24h};
  ring.add(point(0s));
  ring.add(point(30min));
  EXPECT_EQ(ring.series(kStart + 31min, 1h, 360).points.size(), 2U);
  EXPECT_THAT(ring.series(kStart + 3h, 1h, 360).points, IsEmpty());
}

TEST(OverviewRing, AClockThatIsSetBackTakesItsPointsAlong) {
  OverviewRing ring{10s, 24h};
  ring.add(point(0s));
  ring.add(point(100s));
  ring.add(point(50s));
  ASSERT_EQ(ring.points().size(), 2U);
  EXPECT_EQ(ring.points().back().at, kStart + 50s);
}

}  // namespace
}  // namespace sluice::ops
