#include "ops/event_json.hpp"

#include <optional>
#include <utility>

#include "core/failure.hpp"
#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/utf8.hpp"

namespace sluice::ops {
namespace {

constexpr std::size_t kQuotedErrorBytes = 200;

// Only what may stand in a C++ identifier and a comment.
std::string stem_of(const EventEnvelope& envelope) {
  std::string stem;
  for (const char c : envelope.event_type()) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    stem += word ? c : '_';
  }
  const std::string id = envelope.event_id().to_string();
  return stem + '_' + id.substr(id.size() - 8);
}

std::string comment_line(const std::string& text) {
  std::string line;
  for (const char c : utf8::prefix(text, kQuotedErrorBytes)) {
    line += static_cast<unsigned char>(c) < 0x20 || c == '\\' ? ' ' : c;
  }
  return line;
}

}  // namespace

EventEnvelope with_payload(const EventEnvelope& envelope, std::string payload) {
  EnvelopeDraft draft;
  draft.event_id = envelope.event_id();
  draft.event_type = envelope.event_type();
  draft.event_version = envelope.event_version();
  draft.occurred_at = envelope.occurred_at();
  draft.source = envelope.source();
  draft.target = envelope.target();
  draft.workspace_id = envelope.workspace_id();
  draft.payload = std::move(payload);
  draft.idempotency_key = envelope.idempotency_key();
  draft.trace_context = envelope.trace_context();
  return EventEnvelope::trusted(std::move(draft));
}

std::string redacted_error(const std::string& error, const RedactionPolicy& policy) {
  return policy.mode == RedactionPolicy::Mode::values ? normalise_error(error) : error;
}

// An edit leaves the payload before it there. The entries' own members are no payload's: times and names stay readable.
std::string redacted_history(const std::string& history, const RedactionPolicy& policy) {
  const auto shown = [&](std::string_view name, std::string_view value) -> std::optional<std::string> {
    if (name == "payload") return redact_payload(value, policy);
    const auto text = name == "last_error" ? json::string_value(value, name) : Result<std::string>{std::string{}};
    return text && !text->empty() ? json::quote(redacted_error(*text, policy)) : std::string{value};
  };
  return history_with(history, shown).value_or("[]");
}

store::EventRecord redacted(const store::EventRecord& event, const RedactionPolicy& policy) {
  store::EventRecord copy = event;
  copy.envelope = with_payload(event.envelope, redact_payload(event.envelope.payload(), policy));
  if (copy.last_error) copy.last_error = redacted_error(*copy.last_error, policy);
  copy.failure_history = redacted_history(copy.failure_history, policy);
  return copy;
}

std::string export_json(const store::EventRecord& event, const RedactionPolicy& policy) {
  return to_json(redacted(event, policy));
}

Repro make_repro(const store::EventRecord& event, const RedactionPolicy& policy) {
  const EventEnvelope envelope = with_payload(event.envelope, redact_payload(event.envelope.payload(), policy));
  Repro repro;
  repro.name = stem_of(envelope);
  repro.fixture = envelope.to_json() + '\n';
  const std::string error = comment_line(redacted_error(event.last_error.value_or("no error recorded"), policy));
  repro.test =
      "// Reproduces event " + envelope.event_id().to_string() + ", which failed after " +
      std::to_string(event.attempts) + (event.attempts == 1 ? " attempt" : " attempts") + " with\n//   " + error +
      "\n//\n// Values that read \"" + std::string{kRedacted} +
      "\" were hidden by the export: put in ones of the same kind.\n"
      "#include <gtest/gtest.h>\n\n#include <fstream>\n#include <sstream>\n\n#include <sluice/envelope.hpp>\n\n"
      "namespace {\n\n"
      "sluice::Result<sluice::EventEnvelope> fixture(const char* path) {\n"
      "  std::stringstream text;\n  text << std::ifstream{path}.rdbuf();\n"
      "  return sluice::EventEnvelope::from_json(text.str());\n}\n\n"
      "TEST(Repro, " +
      repro.name +
      ") {\n"
      "  const auto event = fixture(\"" +
      repro.name +
      ".json\");\n"
      "  ASSERT_TRUE(event) << event.error().message;\n"
      "  EXPECT_EQ(event->event_type(), " +
      json::quote(envelope.event_type()) +
      ");\n"
      "  // Call the handler here; as long as the defect is there, it fails as above:\n"
      "  //   EXPECT_NO_THROW(handle(*event));\n"
      "}\n\n}  // namespace\n";
  return repro;
}

namespace {

std::string_view name(std::optional<store::PublishOutcome> outcome) {
  if (!outcome) return "planned";
  return *outcome == store::PublishOutcome::published ? "published" : "duplicate";
}

template <class T>
std::vector<std::string> each(const std::vector<T>& items) {
  std::vector<std::string> texts;
  texts.reserve(items.size());
  for (const T& item : items) texts.push_back(to_json(item));
  return texts;
}

std::optional<std::int64_t> microseconds(const std::optional<Duration>& duration) {
  return duration ? std::optional{duration->count()} : std::nullopt;
}

enum class History { shown, left_out };

std::string event_json(JsonObject object, const store::EventRecord& event, History history) {
  object.text("status", name(event.status))
      .number("generation", event.generation)
      .text("channel", event.channel)
      .text("content_class", event.content_class)
      .text("ordering_key", event.ordering_key)
      .number("attempts", event.attempts)
      .number("attempts_made", attempts_made(event))
      .text("last_error", event.last_error)
      .text("error_class", event.error_class)
      .text("fingerprint", event.fingerprint)
      .time("first_failed_at", event.first_failed_at);
  if (history == History::shown) object.raw("failure_history", event.failure_history);
  object.time("claimed_at", event.claimed_at)
      .text("claimed_by", event.claimed_by)
      .number("claim_seq", event.claim_seq)
      .time("retry_after", event.retry_after)
      .time("published_at", event.published_at)
      .time("delivered_at", event.delivered_at)
      .time("failed_at", event.failed_at)
      .time("deleted_at", event.deleted_at)
      .number("seq", event.seq);
  if (event.unreadable) object.text("unreadable", *event.unreadable);
  return object.str();
}

// The envelope's members in their pinned order, but the payload.
JsonObject envelope_head(const EventEnvelope& envelope) {
  JsonObject head;
  head.uuid("event_id", envelope.event_id())
      .text("event_type", envelope.event_type())
      .number("event_version", envelope.event_version())
      .time("occurred_at", envelope.occurred_at())
      .text("source", envelope.source())
      .text("target", envelope.target())
      .uuid("workspace_id", envelope.workspace_id())
      .text("idempotency_key", envelope.idempotency_key())
      .text("trace_context", envelope.trace_context());
  return head;
}

std::string summary_json(const store::EventRecord& event, const RedactionPolicy& policy) {
  const EventEnvelope& envelope = event.envelope;
  const auto error = event.last_error ? std::optional{redacted_error(*event.last_error, policy)} : std::nullopt;
  return JsonObject{}
      .uuid("event_id", envelope.event_id())
      .text("event_type", envelope.event_type())
      .text("source", envelope.source())
      .text("target", envelope.target())
      .number("generation", event.generation)
      .number("attempts", event.attempts)
      .text("error_class", event.error_class)
      .text("fingerprint", event.fingerprint)
      .text("last_error", error)
      .time("occurred_at", envelope.occurred_at())
      .time("first_failed_at", event.first_failed_at)
      .time("failed_at", event.failed_at)
      .str();
}

}  // namespace

std::string to_json(const store::HandledRecord& record) {
  return JsonObject{}
      .text("handler_name", record.key.handler_name)
      .text("idempotency_key", record.key.idempotency_key)
      .time("handled_at", record.handled_at)
      .str();
}

std::string to_json(const Moment& moment) {
  return JsonObject{}.time("at", moment.at).text("what", moment.what).text("detail", moment.detail).str();
}

std::string to_json(const store::AttemptRecord& record) {
  const Attempt& attempt = record.attempt;
  const auto or_null = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional{text}; };
  return JsonObject{}
      .number("number", record.number)
      .number("replay", record.replay)
      .text("handler_name", or_null(attempt.handler_name))
      .text("worker", attempt.worker)
      .time("started_at", attempt.started_at)
      .raw("duration_ms", json_decimal(std::chrono::duration<double, std::milli>{attempt.took}.count()))
      .text("outcome", name(attempt.outcome))
      .raw("status_code", attempt.status_code == 0 ? "null" : std::to_string(attempt.status_code))
      .text("error", or_null(attempt.error))
      .text("response", or_null(attempt.response))
      .text("trace_id", or_null(attempt.trace_id))
      .str();
}

std::string to_json(const HandlerState& handler) {
  return JsonObject{}
      .text("handler_name", handler.handler_name)
      .text("state", name(handler.state))
      .time("handled_at", handler.handled_at)
      .number("attempts", handler.attempts)
      .time("due", handler.due)
      .text("last_error", handler.last_error)
      .str();
}

std::string to_json(const Wait& wait) {
  return JsonObject{}
      .text("what", name(wait.what))
      .time("until", wait.until)
      .uuid("event_id", wait.event_id)
      .texts("handlers", wait.handlers)
      .text("detail", wait.detail)
      .str();
}

std::string to_json(const store::AuditRecord& record) {
  return JsonObject{}
      .number("id", record.id)
      .time("at", record.at)
      .text("actor", record.actor.name)
      .text("surface", record.actor.surface)
      .text("reason", record.actor.reason)
      .text("action", record.action)
      .uuid("event_id", record.event_id)
      .number("count", record.count)
      .raw("detail", record.detail)
      .str();
}

std::string to_json(const store::EventRecord& event) {
  return event_json(JsonObject{event.envelope.to_json()}, event, History::shown);
}

std::vector<std::string> event_heads(const std::vector<store::EventRecord>& events) {
  std::vector<std::string> heads;
  heads.reserve(events.size());
  for (const store::EventRecord& event : events) {
    heads.push_back(event_json(envelope_head(event.envelope), event, History::left_out));
  }
  return heads;
}

std::string heads_json(const std::vector<store::EventRecord>& events, const std::optional<std::string>& next_cursor) {
  return JsonObject{}.array("events", event_heads(events)).text("next_cursor", next_cursor).str();
}

namespace {

std::string story_json(std::string_view event, const EventStory& story) {
  return JsonObject{event}
      .array("handled", each(story.handled))
      .array("audit", each(story.audit))
      .array("timeline", each(story.timeline))
      .array("handlers", each(story.handlers))
      .array("waits_for", each(story.waits_for))
      .array("attempt_log", each(story.attempts))
      .str();
}

}  // namespace

std::string to_json(const EventStory& story) { return story_json(to_json(story.event), story); }

std::string payloadless_json(const EventStory& story) {
  store::EventRecord event = story.event;
  event.failure_history = payloadless_history(event.failure_history);
  std::vector<std::string> edited;
  for (const FailedCycle& cycle : read_history(story.event.failure_history)) {
    if (!cycle.payload.empty()) edited.push_back(std::to_string(cycle.cycle));
  }
  JsonObject object{story_json(event_json(envelope_head(event.envelope), event, History::shown), story)};
  return object.array("edited_by_replay", edited).str();
}

std::string to_json(const EventList& list) {
  return JsonObject{}.array("events", each(list.events)).text("next_cursor", list.next_cursor).str();
}

std::string to_json(const store::NewEvent& event, std::optional<store::PublishOutcome> outcome) {
  JsonObject object{event.envelope.to_json()};
  object.number("generation", event.generation)
      .text("channel", event.channel)
      .text("content_class", event.content_class)
      .text("ordering_key", event.ordering_key)
      .time("not_before", event.not_before);
  if (const auto delay = microseconds(event.delay)) {
    object.number("delay_us", *delay);
  } else {
    object.raw("delay_us", "null");
  }
  return object.text("outcome", name(outcome)).str();
}

std::string summary_json(const DeadList& list, const RedactionPolicy& policy) {
  std::vector<std::string> events;
  for (const auto& event : list.events) events.push_back(summary_json(event, policy));
  return JsonObject{}.array("events", events).text("next_cursor", list.next_cursor).str();
}

std::string redacted_json(const EventStory& story, const RedactionPolicy& policy) {
  EventStory shown = story;
  shown.event = redacted(story.event, policy);
  for (HandlerState& handler : shown.handlers) handler.last_error = redacted_error(handler.last_error, policy);
  for (store::AttemptRecord& record : shown.attempts) {
    record.attempt.error = redacted_error(record.attempt.error, policy);
    record.attempt.response = redacted_error(record.attempt.response, policy);
  }
  const bool omitted = shown.event.envelope.payload().size() > kViewPayloadBytes;
  if (omitted) shown.event.envelope = with_payload(shown.event.envelope, "null");
  shown.timeline = timeline(shown.event, shown.handled, shown.audit, shown.attempts);
  return JsonObject{to_json(shown)}
      .number("payload_bytes", static_cast<std::int64_t>(story.event.envelope.payload().size()))
      .boolean("payload_omitted", omitted)
      .str();
}

std::string redacted_json(GroupView view, const RedactionPolicy& policy) {
  const std::size_t omitted = view.groups.size() > view.most ? view.groups.size() - view.most : 0;
  if (omitted > 0) view.groups.resize(view.most);
  for (auto& group : view.groups) group.sample_error = redacted_error(group.sample_error, policy);
  return JsonObject{to_json(view.groups)}.number("omitted", static_cast<std::int64_t>(omitted)).str();
}

}  // namespace sluice::ops
