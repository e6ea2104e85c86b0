#include "ops/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.hpp"
#include "tests/support/embedded_store.hpp"

namespace sluice::ops {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;

constexpr Timestamp kNoon{std::chrono::sys_days{std::chrono::year{2026} / 3 / 4} + 12h};

HistoryRow minute(Duration before_noon, std::int64_t delivered, std::optional<std::int64_t> newest = {}) {
  HistoryCounts counts;
  counts.delivered = delivered;
  counts.newest = newest;
  return {kNoon - before_noon, {}, counts};
}

TEST(ChartPoints, CountsAddUpToThoseOfTheRowsInEveryWindow) {
  std::vector<HistoryRow> rows;
  for (int n = 59; n >= 0; --n) rows.push_back(minute(std::chrono::minutes{n}, 60 - n));
  for (const char* name : {"1h", "6h", "24h"}) {
    std::int64_t sum = 0;
    for (const ChartPoint& point : chart_points(rows, *parse_window(name), kNoon + 30s)) {
      if (point.counts) sum += point.counts->delivered;
    }
    EXPECT_EQ(sum, 60 * 61 / 2) << name;
  }
}

TEST(ChartPoints, ThreeHundredInAMinuteAreThreeHundredAMinute) {
  const auto points = chart_points({minute(0min, 300)}, *parse_window("1h"), kNoon + 10s);
  ASSERT_THAT(points, SizeIs(60));
  EXPECT_EQ(points.back().counts->delivered, 300);
}

TEST(ChartPoints, WhatNobodyKnowsIsAGap) {
  const auto points = chart_points({minute(5min, 1), minute(3min, 1)}, *parse_window("10m"), kNoon);
  ASSERT_THAT(points, SizeIs(10));
  EXPECT_TRUE(points[4].counts);
  EXPECT_FALSE(points[5].counts);
  EXPECT_TRUE(points[6].counts);
  EXPECT_FALSE(points[9].counts);
}

TEST(ChartPoints, AQuietIntervalOfOneSeriesIsZeroAndNoGap) {
  const ChartWindow window = *parse_window("10m");
  auto points = chart_points({minute(5min, 7)}, window, kNoon);
  fill_quiet(points, chart_points({minute(5min, 9), minute(3min, 2)}, window, kNoon));
  EXPECT_EQ(points[4].counts->delivered, 7);
  EXPECT_FALSE(points[5].counts) << "nobody knows";
  EXPECT_EQ(points[6].counts->delivered, 0);
}

TEST(ChartPoints, PublishedIsWhatTheNumbersGrewBy) {
  const auto points = chart_points(
      {minute(10min, 0, 5), minute(9min, 0, 15), minute(8min, 0, 15), minute(3min, 0, 99), minute(2min, 0, 100)},
      *parse_window("10m"), kNoon);
  EXPECT_EQ(points[0].published, 10) << "since the row before the window";
  EXPECT_EQ(points[1].published, 0);
  EXPECT_EQ(points[6].published, std::nullopt) << "behind a gap nobody knows when it was";
  EXPECT_EQ(points[7].published, 1);
}

TEST(ChartPoints, HistogramsOfAnIntervalMerge) {
  HistoryRow one = minute(1min, 1);
  one.counts.first.add(10ms, 99);
  HistoryRow other = minute(2min, 1);
  other.counts.first.add(1s, 1);
  const auto points = chart_points({other, one}, *parse_window("24h"), kNoon);
  const auto& last = *points[points.size() - 2].counts;
  EXPECT_EQ(last.first.count(), 100);
  EXPECT_NEAR(static_cast<double>(last.first.quantile(0.99)->count()), 1e4, 1e4 / 64);
  EXPECT_NEAR(static_cast<double>(last.first.quantile(1.0)->count()), 1e6, 1e6 / 64);
}

TEST(ChartWindow, OthersAreRefusedByName) {
  const auto refused = parse_window("2h");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "window");
  EXPECT_EQ(refused.error().message, "window must be one of 10m, 1h, 6h, 24h, 7d, 45d, not `2h`");
  EXPECT_EQ(history_request("1h", "planet", {}).error().field, "kind");
  EXPECT_EQ(history_request("1h", "all", "x").error().field, "name");
  EXPECT_TRUE(history_request("45d", "sink", "crm"));
}

TEST(ReportHistory, TellsOneSeriesOrWhichThereAre) {
  test::EmbeddedStore store;
  HistoryBook book;
  book.at(store.now, HistoryKind::handler, "crm.sync").delivered = 2;
  book.at(store.now, HistoryKind::handler, "billing.mailer").delivered = 5;
  test::must(store->record_history(book.rows()));
  const auto names = test::must(report_history(*store, *history_request("1h", "handler", {})));
  EXPECT_THAT(names, HasSubstr(R"("series":[{"name":"billing.mailer","delivered":5)"));
  const auto one = test::must(report_history(*store, *history_request("7d", "handler", "crm.sync")));
  EXPECT_THAT(one, HasSubstr("null,2],\"replayed\""));
}

}  // namespace
}  // namespace sluice::ops
