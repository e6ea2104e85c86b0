#include "core/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <random>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

Duration nearest_rank(std::vector<Duration> values, double q) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

TEST(DurationHistogram, BucketsFollowOneAnotherWithoutGapOrOverlap) {
  for (DurationHistogram::Bucket bucket = 0; bucket < 1200; ++bucket) {
    const Duration lower = DurationHistogram::lower(bucket);
    const Duration next = DurationHistogram::lower(static_cast<DurationHistogram::Bucket>(bucket + 1));
    ASSERT_LT(lower, next) << bucket;
    ASSERT_EQ(DurationHistogram::bucket_of(lower), bucket);
    ASSERT_EQ(DurationHistogram::bucket_of(next - 1us), bucket);
    ASSERT_LE(static_cast<double>((next - lower).count()), std::max(1.0, static_cast<double>(lower.count()) / 32));
  }
}

TEST(DurationHistogram, QuantilesAreWrongByOnePartIn64AtMost) {
  std::mt19937_64 random{4711};  // NOLINT(cert-msc32-c,cert-msc51-cpp)
  for (const double spread : {0.3, 1.0, 3.0}) {
    std::lognormal_distribution<double> some{10.0, spread};
    DurationHistogram histogram;
    std::vector<Duration> values;
    for (int i = 0; i < 10'000; ++i) {
      values.emplace_back(static_cast<Duration::rep>(some(random)));
      histogram.add(values.back());
    }
    for (const double q : {0.01, 0.5, 0.95, 0.99, 1.0}) {
      const auto exact = static_cast<double>(nearest_rank(values, q).count());
      const auto told = static_cast<double>(histogram.quantile(q)->count());
      EXPECT_NEAR(told, exact, std::max(1.0, exact / 64)) << "q " << q << " spread " << spread;
    }
  }
}

TEST(DurationHistogram, OneValueIsEveryQuantile) {
  DurationHistogram histogram;
  histogram.add(10s);
  EXPECT_NEAR(static_cast<double>(histogram.quantile(0.5)->count()), 10e6, 10e6 / 64);
  EXPECT_EQ(histogram.quantile(0.5), histogram.quantile(0.99));
  EXPECT_EQ(DurationHistogram{}.quantile(0.5), std::nullopt);
}

TEST(DurationHistogram, ExtremesHaveAPlace) {
  DurationHistogram histogram;
  histogram.add(-5s);
  histogram.add(std::chrono::hours{24 * 3650});
  EXPECT_EQ(histogram.count(), 2);
  EXPECT_EQ(histogram.counts().front().first, 0);
}

TEST(DurationHistogram, MergingIsCountingTogether) {
  DurationHistogram left;
  DurationHistogram right;
  DurationHistogram both;
  for (int i = 1; i < 500; ++i) {
    (i % 3 == 0 ? left : right).add(Duration{i * i * 7});
    both.add(Duration{i * i * 7});
  }
  left.merge(right);
  EXPECT_EQ(left, both);
}

TEST(DurationHistogram, TextReadsBack) {
  DurationHistogram histogram;
  EXPECT_EQ(histogram.text(), "");
  histogram.add(5us, 3);
  histogram.add(2s);
  const auto read = DurationHistogram::parse(histogram.text());
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, histogram);
  EXPECT_EQ(*DurationHistogram::parse(""), DurationHistogram{});
  for (const char* bad : {"5", "5:", ":3", "x:1", "5:0", "5:-1", "5:1 ", "70000:1", "5:1;6:1"}) {
    EXPECT_FALSE(DurationHistogram::parse(bad)) << bad;
  }
}

constexpr Timestamp kNoon{std::chrono::sys_days{std::chrono::year{2026} / 3 / 4} + 12h};

TEST(HistoryBook, CountsByMinuteAndSeries) {
  HistoryBook book;
  EXPECT_TRUE(book.empty());
  ++book.at(kNoon + 5s, HistoryKind::all).delivered;
  ++book.at(kNoon + 59s, HistoryKind::all).delivered;
  ++book.at(kNoon + 60s, HistoryKind::all).delivered;
  ++book.at(kNoon + 5s, HistoryKind::type, "a.b").failed;
  const auto rows = book.rows();
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(rows[0].at, kNoon);
  EXPECT_EQ(rows[0].counts.delivered, 2);
  EXPECT_EQ(rows[1].series.name, "a.b");
  EXPECT_EQ(rows[2].at, kNoon + 60s);
  book.clear();
  EXPECT_THAT(book.rows(), IsEmpty());
}

TEST(HistoryBook, TooManyNamesShareOne) {
  HistoryBook book;
  for (int i = 0; i < 500; ++i) ++book.at(kNoon, HistoryKind::type, "t" + std::to_string(i)).delivered;
  EXPECT_THAT(book.rows(), SizeIs(kMostHistorySeries + 1));
  EXPECT_EQ(book.at(kNoon, HistoryKind::type, "t499").delivered, 500 - static_cast<int>(kMostHistorySeries));
  ++book.at(kNoon, HistoryKind::type, "t0").delivered;
  EXPECT_EQ(book.at(kNoon, HistoryKind::type, "t0").delivered, 2) << "who has a name keeps it";
  ++book.at(kNoon, HistoryKind::handler, "h").delivered;
  EXPECT_EQ(book.at(kNoon, HistoryKind::handler, "h").delivered, 1) << "each kind has room of its own";
}

TEST(HistoryBook, BooksMergeAndGaugesKeepTheHighest) {
  HistoryBook one;
  one.at(kNoon, HistoryKind::all) = {.delivered = 2, .newest = 10, .backlog = 5};
  HistoryBook other;
  other.at(kNoon, HistoryKind::all) = {.delivered = 3, .newest = 7, .backlog = 9, .lag_ms = 4};
  one.merge(other);
  const HistoryCounts& sum = one.at(kNoon, HistoryKind::all);
  EXPECT_EQ(sum.delivered, 5);
  EXPECT_EQ(sum.newest, 10);
  EXPECT_EQ(sum.backlog, 9);
  EXPECT_EQ(sum.lag_ms, 4);
}

}  // namespace
}  // namespace sluice
