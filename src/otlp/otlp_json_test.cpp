#include "otlp/otlp_json.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/json.hpp"

namespace sluice::otlp {
namespace {

const Sender kSender{{{"service.name", "shop"}}, "1.2.3"};

TEST(OtlpJson, ASpanHasTheShapeOfTheProtocol) {
  SpanRecord span;
  span.context = *parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  span.parent_span_id = 0x00f067aa0ba902b7;
  span.kind = SpanKind::consumer;
  span.name = "process \"a\"";
  span.started = Timestamp{std::chrono::microseconds{1'800'000'000'000'001}};
  span.ended = span.started + std::chrono::microseconds{5};
  span.attributes = {{"messaging.system", std::string{"sluice"}}, {"sluice.attempt", std::int64_t{2}}};
  span.links = {*parse_traceparent("00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203332-01")};
  span.dropped_links = 4;
  span.failed = true;
  span.message = "no";
  EXPECT_EQ(
      traces_json({&span, 1}, kSender),
      R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},)"
      R"("scopeSpans":[{"scope":{"name":"sluice","version":"1.2.3"},"spans":[)"
      R"({"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","parentSpanId":"00f067aa0ba902b7",)"
      R"("name":"process \"a\"","kind":5,"startTimeUnixNano":"1800000000000001000","endTimeUnixNano":"1800000000000006000",)"
      R"("attributes":[{"key":"messaging.system","value":{"stringValue":"sluice"}},)"
      R"({"key":"sluice.attempt","value":{"intValue":"2"}}],)"
      R"("links":[{"traceId":"0af7651916cd43dd8448eb211c80319d","spanId":"b7ad6b7169203332"}],"droppedLinksCount":4,)"
      R"("status":{"code":2,"message":"no"}}]}]}]})");
}

TEST(OtlpJson, MetricsAreCumulativeAndNamedWithoutTotal) {
  telemetry::Registry registry;
  registry.counter({"events_total", "Events.", {"kind"}}).with({"a"}).add(3);
  registry.gauge({"size_bytes", "Size."})->set(1.5);
  registry.histogram({"wait_seconds", "Wait."}, {1, 2})->observe(1.5);
  registry.gauge({.name = "none", .help = "Not there.", .optional = true});
  const MetricTimes times{Timestamp{std::chrono::seconds{1}}, Timestamp{std::chrono::seconds{2}}};
  const std::string json = metrics_json(registry, times, kSender);
  EXPECT_TRUE(json::check(json, "body"));
  EXPECT_NE(json.find(R"({"name":"events","description":"Events.","unit":"","sum":{"aggregationTemporality":2,)"
                      R"("isMonotonic":true,"dataPoints":[{"attributes":[{"key":"kind","value":{"stringValue":"a"}}],)"
                      R"("startTimeUnixNano":"1000000000","timeUnixNano":"2000000000","asInt":"3"}]}})"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"({"name":"size_bytes","description":"Size.","unit":"By","gauge":{"dataPoints":[)"
                      R"({"attributes":[],"timeUnixNano":"2000000000","asDouble":1.5}]}})"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("count":"1","sum":1.5,"bucketCounts":["0","1","0"],"explicitBounds":[1,2])"),
            std::string::npos)
      << json;
  EXPECT_EQ(json.find("Not there."), std::string::npos);
}

TEST(OtlpJson, AnExampleOfABucketNamesItsSpan) {
  telemetry::Registry registry;
  registry.histogram({"wait_seconds", "Wait."}, {1, 2})
      ->observe(1.5, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Timestamp{std::chrono::seconds{9}});
  EXPECT_NE(metrics_json(registry, {}, kSender)
                .find(R"("exemplars":[{"timeUnixNano":"9000000000","asDouble":1.5,)"
                      R"("traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331"}])"),
            std::string::npos);
}

TEST(OtlpJson, WhatIsNoNumberHasItsNameInTheMapping) {
  telemetry::Registry registry;
  registry.gauge({"g", "G."})->set(std::numeric_limits<double>::infinity());
  EXPECT_NE(metrics_json(registry, {}, kSender).find(R"("asDouble":"Infinity")"), std::string::npos);
}

TEST(OtlpJson, ReadsWhatACollectorDidNotTake) {
  EXPECT_EQ(rejected_of("").count, 0);
  EXPECT_EQ(rejected_of("{}").count, 0);
  EXPECT_EQ(rejected_of(R"({"partialSuccess":{}})").count, 0);
  EXPECT_EQ(rejected_of(R"({"partialSuccess":{"rejectedSpans":"7","errorMessage":"late"}})").count, 7);
  EXPECT_EQ(rejected_of(R"({"partialSuccess":{"rejectedDataPoints":3}})").count, 3);
  EXPECT_EQ(rejected_of(R"({"partialSuccess":{"rejectedSpans":"7","errorMessage":"late"}})").message, "late");
}

}  // namespace
}  // namespace sluice::otlp
