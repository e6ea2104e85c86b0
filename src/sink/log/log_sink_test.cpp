#include "sink/log/log_sink.hpp"

#include <gtest/gtest.h>

namespace sluice::sink {
namespace {

EventEnvelope logged_event(std::string payload) {
  EnvelopeDraft draft;
  draft.event_id = *Uuid::parse("01890a5d-ac96-774b-bcce-b302099a8057");
  draft.event_type = "demo.hello";
  draft.occurred_at = Timestamp{std::chrono::seconds{1}};
  draft.source = "demo";
  draft.payload = std::move(payload);
  draft.trace_context = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  return EventEnvelope::trusted(draft);
}

class LogSinkTest : public testing::Test {
 protected:
  LogSink sink{telemetry::Logger{[this](std::string_view line) { lines.emplace_back(line); },
                                 {.clock = [] { return Timestamp{std::chrono::seconds{1}}; }}},
               {.name = "console", .payload_bytes = 15}};
  Delivery delivery{"sluice.log", 3, {2, 2}, {}};
  std::vector<std::string> lines;
};

TEST_F(LogSinkTest, WritesOneLinePerEventAndHandlesEach) {
  const std::vector<EventEnvelope> events{logged_event(R"({"n":1})"), logged_event("{}")};
  const auto verdicts = sink.deliver(events, delivery);
  ASSERT_EQ(verdicts.size(), 2U);
  for (const Verdict& verdict : verdicts) EXPECT_EQ(verdict.kind, Verdict::Kind::handled);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(
      lines[0],
      R"({"timestamp":"1970-01-01T00:00:01.000000Z","level":"info","message":"event received","service":"sluice",)"
      R"("environment":"development","generation":3,"trace_id":"0af7651916cd43dd8448eb211c80319c",)"
      R"("event_id":"01890a5d-ac96-774b-bcce-b302099a8057","event_type":"demo.hello","source":"demo","target":null,)"
      R"("workspace_id":null,"attempts":2,"handler_name":"sluice.log","payload":"{\"n\":1}","payload_cut":false})"
      "\n");
}

TEST_F(LogSinkTest, CutsALongPayloadAtACharacterBoundary) {
  const std::vector<EventEnvelope> events{logged_event("{\"name\":\"Grü€€€€€€\"}")};
  sink.deliver(events, delivery);
  EXPECT_NE(lines.at(0).find(R"("payload":"{\"name\":\"Grü","payload_cut":true)"), std::string::npos) << lines[0];
}

TEST_F(LogSinkTest, TellsItsNameAndWhatItWrote) {
  const std::vector<EventEnvelope> events{logged_event("{}"), logged_event("{}")};
  sink.deliver(events, delivery);
  const SinkStatus status = sink.status();
  EXPECT_EQ(status.name, "console");
  EXPECT_EQ(status.kind, "log");
  EXPECT_EQ(status.delivered, 2);
}

TEST_F(LogSinkTest, NoEventsNoLines) {
  EXPECT_TRUE(sink.deliver({}, delivery).empty());
  EXPECT_TRUE(lines.empty());
}

}  // namespace
}  // namespace sluice::sink
