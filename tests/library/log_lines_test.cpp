// The library's log lines: JSON, with the canonical fields on each and those of the event where there is one.
#include <gmock/gmock.h>

#include <sluice/payload.hpp>
#include "tests/library/public_api.hpp"

namespace sluice::test {
namespace {

// What every line has. Reading names the field that is missing or mistyped.
struct Line {
  Timestamp timestamp;
  std::string level;
  std::string message;
  std::string service;
  std::string environment;
  std::int64_t generation = 0;
  std::optional<std::string> trace_id;
  static constexpr auto fields() {
    return std::tuple{field("timestamp", &Line::timestamp),     field("level", &Line::level),
                      field("message", &Line::message),         field("service", &Line::service),
                      field("environment", &Line::environment), field("generation", &Line::generation),
                      field("trace_id", &Line::trace_id)};
  }
};

struct EventFields {
  Uuid event_id;
  std::string event_type;
  std::string source;
  std::optional<std::string> target;
  std::optional<Uuid> workspace_id;
  static constexpr auto fields() {
    return std::tuple{field("event_id", &EventFields::event_id), field("event_type", &EventFields::event_type),
                      field("source", &EventFields::source), field("target", &EventFields::target),
                      field("workspace_id", &EventFields::workspace_id)};
  }
};

struct HandledFields {
  int attempts = -1;
  double duration_ms = -1;
  std::string status_result;
  std::string handler_name;
  static constexpr auto fields() {
    return std::tuple{field("attempts", &HandledFields::attempts), field("duration_ms", &HandledFields::duration_ms),
                      field("status_result", &HandledFields::status_result),
                      field("handler_name", &HandledFields::handler_name)};
  }
};

constexpr const char* kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";

class LogLines : public PublicApi {
 protected:
  EventEnvelope traced_event() {
    EnvelopeDraft draft = publisher().draft();
    draft.event_type = "test.happened";
    draft.source = "tests";
    draft.target = "tests";
    draft.workspace_id = draft.event_id;
    draft.trace_context = std::string{"00-"} + kTrace + "-00f067aa0ba902b7-01";
    return required(EventEnvelope::make(draft));
  }
  std::function<void(std::string_view)> log() {
    return [this](std::string_view line) { lines_.add(std::string{line}); };
  }

  // Every line has the canonical fields; those whose text has `part` are returned.
  std::vector<std::string> checked_lines(const std::string& part) const {
    std::vector<std::string> found;
    for (const std::string& text : lines_.all()) {
      const auto line = from_payload<Line>(text);
      EXPECT_TRUE(line) << line.error().message << ": " << text;
      if (!line) continue;
      EXPECT_EQ(line->service, "shop") << text;
      EXPECT_EQ(line->environment, "test") << text;
      EXPECT_EQ(line->generation, 1) << text;
      EXPECT_THAT(text, testing::HasSubstr(R"("trace_id":)"));
      EXPECT_THAT(text, testing::Not(testing::HasSubstr("\n{")));
      if (text.find(part) != std::string::npos) found.push_back(text);
    }
    return found;
  }

  void expect_about(const std::string& line, const EventEnvelope& event) {
    const auto fields = required(from_payload<EventFields>(line));
    EXPECT_EQ(fields.event_id, event.event_id());
    EXPECT_EQ(fields.event_type, event.event_type());
    EXPECT_EQ(fields.source, event.source());
    EXPECT_EQ(fields.target, event.target());
    EXPECT_EQ(fields.workspace_id, event.workspace_id());
    EXPECT_EQ(required(from_payload<Line>(line)).trace_id, kTrace);
  }

  Notes lines_;
};

TEST_F(LogLines, APublishHasOne) {
  const EventEnvelope event = traced_event();
  auto logging =
      required(EventPublisher::open({.store = store(), .service = "shop", .environment = "test", .log = log()}));
  required(logging.publish(event));
  const auto lines = checked_lines("event published");
  ASSERT_EQ(lines.size(), 1U);
  expect_about(lines.front(), event);
  EXPECT_EQ(required(from_payload<Line>(lines.front())).level, "info");
}

TEST_F(LogLines, EachAttemptHasOne) {
  const EventEnvelope event = traced_event();
  required(publisher().publish(event));
  Notes runs;
  {
    auto logging =
        required(EventListener::open({.store = store(), .service = "shop", .environment = "test", .log = log()}));
    required(logging.listen({.handler_name = "tests.handler", .retry = quick_retry()}, [&](const EventEnvelope&) {
      runs.add("run");
      if (runs.all().size() == 1) throw std::runtime_error("not yet");
    }));
    required(logging.start());
    runs.await(2);
  }
  const auto lines = checked_lines(R"("handler_name")");
  ASSERT_EQ(lines.size(), 2U);
  for (const std::string& line : lines) expect_about(line, event);
  const auto first = required(from_payload<HandledFields>(lines[0]));
  EXPECT_EQ(first.handler_name, "tests.handler");
  EXPECT_EQ(first.status_result, "retry");
  EXPECT_EQ(first.attempts, 1);
  EXPECT_GE(first.duration_ms, 0);
  EXPECT_EQ(required(from_payload<Line>(lines[0])).level, "warn");
  const auto second = required(from_payload<HandledFields>(lines[1]));
  EXPECT_EQ(second.status_result, "delivered");
  EXPECT_EQ(required(from_payload<Line>(lines[1])).level, "info");
}

}  // namespace
}  // namespace sluice::test
