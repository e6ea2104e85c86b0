#include "telemetry/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
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

namespace {

TEST(MetricsText, IsWhatPrometheusReads) {
  Registry registry;
  registry.histogram({"b_seconds", "How long."}, {0.5, 1}).operator->()->observe(0.75);
  registry.counter({"a_total", "How many.", {"kind"}}).with({"x"}).add(3);
  registry.gauge({"c", "How much."})->set(-1.5);
  EXPECT_EQ(expose(registry),
            "# HELP a_total How many.\n"
            "# TYPE a_total counter\n"
            "a_total{kind=\"x\"} 3\n"
            "# HELP b_seconds How long.\n"
            "# TYPE b_seconds histogram\n"
            "b_seconds_bucket{le=\"0.5\"} 0\n"
            "b_seconds_bucket{le=\"1\"} 1\n"
            "b_seconds_bucket{le=\"+Inf\"} 1\n"
            "b_seconds_sum 0.75\n"
            "b_seconds_count 1\n"
            "# HELP c How much.\n"
            "# TYPE c gauge\n"
            "c -1.5\n");
}

TEST(MetricsText, OpenMetricsNamesCountersWithoutTheirSuffixAndEnds) {
  Registry registry;
  registry.counter({"a_total", "Say \"how\" many."})->add();
  registry.histogram({"b_seconds", "How long."}, {1});
  EXPECT_EQ(expose(registry, MetricsFormat::openmetrics),
            "# HELP a Say \\\"how\\\" many.\n"
            "# TYPE a counter\n"
            "a_total 1\n"
            "# HELP b_seconds How long.\n"
            "# TYPE b_seconds histogram\n"
            "b_seconds_bucket{le=\"1.0\"} 0\n"
            "b_seconds_bucket{le=\"+Inf\"} 0\n"
            "b_seconds_sum 0\n"
            "b_seconds_count 0\n"
            "# EOF\n");
}

TEST(MetricsText, NoLabelCanLeaveItsQuotesOrItsLine) {
  Registry registry;
  registry.counter({"a_total", "back\\slash\nand line", {"k"}}).with({"a\"b\\c\nd"}).add();
  EXPECT_EQ(expose(registry),
            "# HELP a_total back\\\\slash\\nand line\n"
            "# TYPE a_total counter\n"
            "a_total{k=\"a\\\"b\\\\c\\nd\"} 1\n");
}

TEST(MetricsText, SeriesAreInTheOrderOfTheirLabels) {
  Registry registry;
  Family<Gauge>& family = registry.gauge({"g", "g", {"x"}});
  family.with({"b"}).set(std::numeric_limits<double>::infinity());
  family.with({"a"}).set(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(expose(registry), "# HELP g g\n# TYPE g gauge\ng{x=\"a\"} NaN\ng{x=\"b\"} +Inf\n");
}

TEST(MetricsText, TheAcceptHeaderChoosesTheFormat) {
  EXPECT_EQ(metrics_format(""), MetricsFormat::prometheus);
  EXPECT_EQ(metrics_format("text/plain;version=0.0.4;q=0.3,*/*;q=0.2"), MetricsFormat::prometheus);
  EXPECT_EQ(metrics_format("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"), MetricsFormat::openmetrics);
  EXPECT_EQ(content_type(MetricsFormat::prometheus), "text/plain; version=0.0.4; charset=utf-8");
}

TEST(Exemplars, StandInOpenMetricsOnly) {
  Registry registry;
  auto& waits = registry.histogram({"wait_seconds", "Wait."}, {1, 2});
  const Timestamp at{std::chrono::milliseconds{1500}};
  waits->observe(1.5, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", at);
  waits->observe(0.5, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", at);
  const std::string open = expose(registry, MetricsFormat::openmetrics);
  EXPECT_NE(open.find("wait_seconds_bucket{le=\"2.0\"} 2 # {trace_id=\"0af7651916cd43dd8448eb211c80319c\","
                      "span_id=\"b7ad6b7169203331\"} 1.5 1.5\n"),
            std::string::npos)
      << open;
  EXPECT_NE(open.find("wait_seconds_bucket{le=\"1.0\"} 1\n"), std::string::npos) << open;
  EXPECT_EQ(expose(registry).find("trace_id"), std::string::npos);
}

}  // namespace

}  // namespace sluice::telemetry
