#include "ops/event_view.hpp"

#include <optional>

#include "core/json_object.hpp"
#include "ops/event_export.hpp"
#include "ops/event_json.hpp"

namespace sluice::ops {
namespace {

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

std::string summary_json(const DeadList& list, const RedactionPolicy& policy) {
  std::vector<std::string> events;
  for (const auto& event : list.events) events.push_back(summary_json(event, policy));
  return JsonObject{}.array("events", events).text("next_cursor", list.next_cursor).str();
}

std::string redacted_json(const EventStory& story, const RedactionPolicy& policy) {
  EventStory shown = story;
  shown.event = redacted(story.event, policy);
  for (HandlerState& handler : shown.handlers) handler.last_error = redacted_error(handler.last_error, policy);
  const bool omitted = shown.event.envelope.payload().size() > kViewPayloadBytes;
  if (omitted) shown.event.envelope = with_payload(shown.event.envelope, "null");
  shown.timeline = timeline(shown.event, shown.handled, shown.audit);
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
