#include "sink/log/log_sink.hpp"

#include <gtest/gtest.h>

namespace sluice::sink {
namespace {

store::ClaimedEvent event(std::string payload) {
  EnvelopeDraft draft;
  draft.event_id = *Uuid::parse("01890a5d-ac96-774b-bcce-b302099a8057");
  draft.event_type = "demo.hello";
  draft.occurred_at = Timestamp{std::chrono::seconds{1}};
  draft.source = "demo";
  draft.payload = std::move(payload);
  draft.trace_context = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  return {EventEnvelope::trusted(draft), {}, 3, "outbox_gen_3", {}, 2};
}

class LogSinkTest : public testing::Test {
 protected:
  LogSink sink{telemetry::Logger{[this](std::string_view line) { lines.emplace_back(line); },
                                 {.clock = [] { return Timestamp{std::chrono::seconds{1}}; }}},
               {.payload_bytes = 15}};
  std::vector<std::string> lines;
};

TEST_F(LogSinkTest, WritesOneLinePerEventAndHandlesEach) {
  const std::vector<store::ClaimedEvent> events{event(R"({"n":1})"), event("{}")};
  const auto outcomes = sink.deliver(events);
  ASSERT_EQ(outcomes.size(), 2U);
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.kind, Outcome::Kind::handled);
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
  const std::vector<store::ClaimedEvent> events{event("{\"name\":\"Grü€€€€€€\"}")};
  sink.deliver(events);
  EXPECT_NE(lines.at(0).find(R"("payload":"{\"name\":\"Grü","payload_cut":true)"), std::string::npos) << lines[0];
}

TEST_F(LogSinkTest, NoEventsNoLines) {
  EXPECT_TRUE(sink.deliver({}).empty());
  EXPECT_TRUE(lines.empty());
}

}  // namespace
}  // namespace sluice::sink
