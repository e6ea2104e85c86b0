#include "telemetry/metrics_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sluice::telemetry {
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

}  // namespace
}  // namespace sluice::telemetry
