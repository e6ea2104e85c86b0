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

TEST(OtlpJson, ALineOfTheLogHasTheShapeOfTheProtocol) {
  telemetry::LogContext context;
  context.generation = 3;
  context.trace_id = "0af7651916cd43dd8448eb211c80319c";
  context.span_id = "b7ad6b7169203331";
  const std::vector<telemetry::LogField> fields{{"event_type", "order.paid"},
                                                {"target", std::optional<std::string>{}},
                                                {"attempts", 2},
                                                {"share", 0.5},
                                                {"payload_cut", true}};
  const LogEntry entry = entry_of({Timestamp{std::chrono::microseconds{1'800'000'000'000'001}}, telemetry::Level::warn,
                                   "a \"b\"", context, fields});
  EXPECT_EQ(logs_json({&entry, 1}, kSender),
            R"({"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},)"
            R"("scopeLogs":[{"scope":{"name":"sluice","version":"1.2.3"},"logRecords":[)"
            R"({"timeUnixNano":"1800000000000001000","observedTimeUnixNano":"1800000000000001000",)"
            R"("severityNumber":13,"severityText":"warn","body":{"stringValue":"a \"b\""},)"
            R"("attributes":[{"key":"generation","value":{"intValue":"3"}},)"
            R"({"key":"event_type","value":{"stringValue":"order.paid"}},{"key":"attempts","value":{"intValue":"2"}},)"
            R"({"key":"share","value":{"doubleValue":0.5}},{"key":"payload_cut","value":{"boolValue":true}}],)"
            R"("traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331"}]}]}]})");
}

TEST(OtlpJson, LongTextsOfALineAreCut) {
  const std::string text(10 * kMostBytes, 'x');
  const std::vector<telemetry::LogField> fields{{"payload", text}};
  const LogEntry entry = entry_of({{}, telemetry::Level::info, text, {}, fields});
  EXPECT_EQ(entry.message.size(), kMostBytes);
  EXPECT_EQ(std::get<std::string>(entry.fields.at(0).second).size(), kMostBytes);
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
