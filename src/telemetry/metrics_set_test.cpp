#include "telemetry/metrics_set.hpp"

#include <gtest/gtest.h>

#include "telemetry/metrics.hpp"
#include "tests/cli/golden.hpp"

namespace sluice::telemetry {
namespace {

/// `name kind label label`
std::string names_of(const Registry& registry) {
  std::string text;
  registry.each([&](MetricKind kind, const auto& family) {
    text += family.description().name + ' ' + std::string{name(kind)};
    for (const std::string& label : family.description().labels) text += ' ' + label;
    text += '\n';
  });
  return text;
}

TEST(MetricSet, HasTheNamesThatDashboardsRelyOn) {
  Registry registry;
  const MetricSet metrics{registry};
  test::expect_golden("metric_names.txt", names_of(registry));
}

TEST(MetricSet, EveryMetricSaysWhatItIsInOneSentence) {
  Registry registry;
  const MetricSet metrics{registry};
  registry.each([](MetricKind, const auto& family) {
    const MetricDescription& described = family.description();
    EXPECT_TRUE(described.help.ends_with('.')) << described.name;
    EXPECT_EQ(described.help.find('.'), described.help.size() - 1) << described.name;
    EXPECT_TRUE(described.name.starts_with("sluice_") || described.name.starts_with("process_")) << described.name;
  });
}

TEST(MetricSet, WhatOnlyOneKindOfStoreHasIsAbsentElsewhere) {
  Registry registry;
  MetricSet metrics{registry};
  EXPECT_EQ(expose(registry).find("\nsluice_notify_queue_usage_ratio "), std::string::npos);
  metrics.store.notify_queue_usage.replace({{{}, 0.25}});
  EXPECT_NE(expose(registry).find("\nsluice_notify_queue_usage_ratio 0.25\n"), std::string::npos);
}

TEST(MetricSet, WhatAlertsWatchIsThereBeforeTheFirstEvent) {
  Registry registry;
  const MetricSet metrics{registry};
  const std::string text = expose(registry);
  EXPECT_NE(text.find("sluice_settled_events_total{result=\"failed\"} 0\n"), std::string::npos);
  EXPECT_NE(text.find("sluice_reaped_claims_total{result=\"retried\"} 0\n"), std::string::npos);
}

TEST(MetricSet, RequestsAreCountedByClassOfStatus) {
  Registry registry;
  MetricSet metrics{registry};
  metrics.traffic.http_served("GET", "/v1/events/{id}", 404, 0.002);
  const std::string text = expose(registry);
  EXPECT_NE(text.find("sluice_http_requests_total{route=\"/v1/events/{id}\",method=\"GET\",status=\"4xx\"} 1\n"),
            std::string::npos);
  EXPECT_NE(text.find("sluice_http_request_duration_seconds_count{route=\"/v1/events/{id}\",method=\"GET\"} 1\n"),
            std::string::npos);
}

TEST(MetricSet, ASinksBatchIsCountedByOutcome) {
  Registry registry;
  MetricSet metrics{registry};
  const std::vector<Verdict> verdicts{Verdict{}, Verdict{}, Verdict::failed("TimeoutError", "no answer")};
  metrics.traffic.sink_delivered("billing", verdicts, std::chrono::milliseconds{20});
  const std::string text = expose(registry);
  EXPECT_NE(text.find("sluice_sink_deliveries_total{sink=\"billing\",outcome=\"delivered\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("sluice_sink_deliveries_total{sink=\"billing\",outcome=\"failed\"} 1\n"), std::string::npos);
  EXPECT_EQ(text.find("outcome=\"deferred\""), std::string::npos);
  EXPECT_EQ(metrics.traffic.sink_duration.with({"billing"}).snapshot().count(), 1U);
}

TEST(MetricSet, SinksThatAreGoneAreNotShown) {
  Registry registry;
  MetricSet metrics{registry};
  metrics.traffic.show_sinks({{"old", "active"}});
  metrics.traffic.show_sinks({{"billing", "open"}});
  const std::string text = expose(registry);
  EXPECT_NE(text.find("sluice_sink_state{sink=\"billing\",state=\"open\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("sluice_sink_state{sink=\"billing\",state=\"active\"} 0\n"), std::string::npos);
  EXPECT_EQ(text.find("sink=\"old\""), std::string::npos);
}

TEST(ProcessMetrics, SeesItself) {
  Registry registry;
  const ProcessMetrics process{registry};
  EXPECT_GT(process.resident_bytes->value(), 100'000);
  EXPECT_GE(process.open_descriptors->value(), 3);
  EXPECT_GE(process.most_descriptors->value(), process.open_descriptors->value());
  EXPECT_GT(process.start_time->value(), 1.7e9);
}

}  // namespace
}  // namespace sluice::telemetry
