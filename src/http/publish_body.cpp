#include "http/publish_body.hpp"

#include <optional>
#include <utility>

#include "core/generation.hpp"
#include "core/json.hpp"
#include "http/media_type.hpp"
#include "ops/cloudevent_request.hpp"
#include "ops/publish_request_json.hpp"

namespace sluice::http {
namespace {

using cloudevents::CloudEvent;

std::string at_index(std::size_t index, const std::string& field) {
  return "events[" + std::to_string(index) + "]" + (field.empty() || field == "event" ? "" : "." + field);
}

bool is_json(std::string_view media) { return media == "application/json" || media.ends_with("+json"); }

Result<PublishBody> read_list(std::string_view list) {
  const auto elements = json::elements(list, "events", {.depth = json::kMaxDepth});
  if (!elements) return elements.error();
  PublishBody body{{}, true, false};
  for (const std::string_view element : *elements) {
    auto event = ops::publish_request(element);
    if (!event) return at_event(std::move(event).error(), body.events.size(), body);
    body.events.push_back(*std::move(event));
  }
  return body;
}

// `{"events":[…]}` and nothing else, or one event.
Result<PublishBody> read_envelopes(std::string_view text) {
  const auto members = json::members(text, "body", {.depth = json::kMaxDepth});
  if (!members) return members.error();
  if (members->size() == 1 && members->front().name == "events") return read_list(members->front().value);
  auto event = ops::publish_request(text);
  if (!event) return std::move(event).error();
  return PublishBody{{*std::move(event)}, false, false};
}

Result<PublishBody> read_cloudevents(std::vector<CloudEvent> events, bool many) {
  PublishBody body{{}, many, true};
  for (const CloudEvent& event : events) {
    auto request = ops::publish_request(event);
    if (!request) return at_event(std::move(request).error(), body.events.size(), body);
    body.events.push_back(*std::move(request));
  }
  return body;
}

Result<PublishBody> read_one(Result<CloudEvent> event) {
  if (!event) return std::move(event).error();
  return read_cloudevents({*std::move(event)}, false);
}

std::optional<Result<PublishBody>> read_by_type(const Request& request) {
  const std::string media = media_type(request);
  if (media == cloudevents::kStructured) return read_one(cloudevents::decode_structured(request.body));
  if (media == cloudevents::kBatch) {
    auto events = cloudevents::decode_batch(request.body);
    if (!events) return Result<PublishBody>{std::move(events).error()};
    return read_cloudevents(*std::move(events), true);
  }
  const bool binary = request.header("ce-specversion") || request.header("ce-id") || request.header("ce-type");
  if (binary && (is_json(media) || (media.empty() && request.body.empty()))) {
    return read_one(cloudevents::decode_binary(request.headers, request.body));
  }
  if (binary || media != "application/json") return std::nullopt;
  return read_envelopes(request.body);
}

// What an instrumented client sends with every request belongs to events that carry no trace of their own.
void continue_trace(const Request& request, PublishBody& body) {
  const auto traceparent = request.header("traceparent");
  if (!traceparent || !check_trace_context(*traceparent)) return;
  for (ops::PublishRequest& event : body.events) {
    if (!event.trace_context) event.trace_context = std::string{*traceparent};
  }
}

}  // namespace

std::optional<Result<PublishBody>> read_publish(const Request& request) {
  auto body = read_by_type(request);
  if (body && *body) continue_trace(request, **body);
  return body;
}

Error at_event(Error error, std::size_t index, const PublishBody& body) {
  if (body.cloudevents) error = ops::in_terms_of_attributes(std::move(error));
  if (body.many) error.field = at_index(index, error.field);
  if (body.many) error.message = error.field + ": " + error.message;
  return error;
}

}  // namespace sluice::http
