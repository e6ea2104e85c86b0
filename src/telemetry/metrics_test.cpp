#include "telemetry/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace sluice::telemetry {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Counter, CountsFromManyThreads) {
  Registry registry;
  Family<Counter>& family = registry.counter({"c_total", "c"});
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int n = 0; n < 10'000; ++n) family->add();
      });
    }
  }
  EXPECT_EQ(family->value(), 40'000U);
}

TEST(Counter, FollowsATotalButNeverBack) {
  Counter counter;
  counter.follow(7);
  counter.follow(3);
  counter.follow(-1);
  EXPECT_EQ(counter.value(), 7U);
}

TEST(Histogram, ABoundBelongsToTheBucketBelowIt) {
  Histogram histogram{{1, 2}};
  for (const double value : {0.5, 1.0, 1.5, 2.0, 2.5}) histogram.observe(value);
  histogram.observe_many(100, 3);
  const Histogram::Snapshot seen = histogram.snapshot();
  EXPECT_THAT(seen.counts, ElementsAre(2, 2, 4));
  EXPECT_EQ(seen.count(), 8U);
  EXPECT_DOUBLE_EQ(seen.sum, 307.5);
}

TEST(Family, TheSameLabelsAreTheSameMetric) {
  Registry registry;
  Family<Counter>& family = registry.counter({"c_total", "c", {"a", "b"}});
  Counter& first = family.with({"x", "y"});
  first.add(2);
  EXPECT_EQ(&family.with({"x", "y"}), &first);
  EXPECT_NE(&family.with({"y", "x"}), &first);
}

TEST(Family, WhatIsBeyondItsBoundIsCountedTogether) {
  Registry registry;
  Family<Counter>& family = registry.counter({"c_total", "c", {"class"}, 2});
  family.with({"a"}).add();
  family.with({"b"}).add();
  family.with({"c"}).add();
  family.with({"d"}).add();
  family.with({"a"}).add();
  std::map<std::string, std::uint64_t> seen;
  family.each([&](const Labels& labels, const Counter& counter) { seen[labels.front()] = counter.value(); });
  EXPECT_THAT(seen, ElementsAre(Pair("a", 2), Pair("b", 1), Pair("other", 2)));
}

TEST(Family, ReplacedGaugesForgetWhatIsGone) {
  Registry registry;
  Family<Gauge>& family = registry.gauge({"g", "g", {"generation"}});
  family.replace({{{"1"}, 5}, {{"2"}, 6}});
  family.replace({{{"2"}, 7}});
  std::map<std::string, double> seen;
  family.each([&](const Labels& labels, const Gauge& gauge) { seen[labels.front()] = gauge.value(); });
  EXPECT_THAT(seen, ElementsAre(Pair("2", 7)));
}

}  // namespace
}  // namespace sluice::telemetry
