#include "http/routes_publish.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/generation.hpp"
#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "http/message.hpp"
#include "ops/event_json.hpp"
#include "ops/publish_event.hpp"
#include "ops/publish_trace.hpp"
#include "telemetry/log.hpp"
#include "telemetry/messaging.hpp"

namespace sluice::http {
namespace {

using cloudevents::CloudEvent;

std::string at_index(std::size_t index, const std::string& field) {
  return "events[" + std::to_string(index) + "]" + (field.empty() || field == "event" ? "" : "." + field);
}

bool is_json(std::string_view media) { return media == "application/json" || media.ends_with("+json"); }

Result<PublishBody> read_list(json::Part list) {
  SLUICE_TRY(auto elements, json::elements_of(std::move(list), "events"));
  PublishBody body{{}, true, false};
  for (json::Part& element : elements) {
    auto event = ops::publish_request(std::move(element));
    if (!event) return at_event(std::move(event).error(), body.events.size(), body);
    body.events.push_back(*std::move(event));
  }
  return body;
}

// `{"events":[…]}` and nothing else, or one event.
Result<PublishBody> read_envelopes(std::string_view text) {
  const auto is_list = [](int level, const json::Part& part) { return level == 2 || part.name == "events"; };
  SLUICE_TRY(auto outline, json::outline(text, "body", is_list));
  if (outline.parts.size() == 1 && outline.parts.front().name == "events") {
    return read_list(std::move(outline.parts.front()));
  }
  SLUICE_TRY(auto event, ops::publish_request(std::move(outline), "body"));
  return PublishBody{{std::move(event)}, false, false};
}

Result<PublishBody> read_cloudevents(const std::vector<CloudEvent>& events, bool many) {
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

}  // namespace

std::optional<Result<PublishBody>> read_publish(const Request& request) {
  const std::string media = media_type(request);
  if (media == cloudevents::kStructured) return read_one(cloudevents::decode_structured(request.body));
  if (media == cloudevents::kBatch) {
    auto events = cloudevents::decode_batch(request.body);
    if (!events) return Result<PublishBody>{std::move(events).error()};
    return read_cloudevents(*events, true);
  }
  const bool binary = request.header("ce-specversion") || request.header("ce-id") || request.header("ce-type");
  if (binary && (is_json(media) || (media.empty() && request.body.empty()))) {
    return read_one(cloudevents::decode_binary(request.headers, request.body));
  }
  if (binary || media != "application/json") return std::nullopt;
  return read_envelopes(request.body);
}

namespace {

constexpr std::size_t kListedIds = 20;

// Who repeats the request must name the ids, and may not know those that were made here.
std::string how_to_repeat(std::span<const store::NewEvent> events) {
  if (events.size() > kListedIds) return "send the same events again if you gave them ids; else look for them first";
  std::string ids;
  for (const store::NewEvent& event : events) {
    ids.append(ids.empty() ? "" : ", ").append(event.envelope.event_id().to_string());
  }
  return "sending the same events again is safe with event_id " + ids;
}

Error explained(Error error, std::span<const store::NewEvent> events) {
  if (error.retry != Retry::in_doubt) return error;
  error.message = "unknown: the answer to COMMIT was lost; the events may be stored";
  error.hint = how_to_repeat(events);
  return error;
}

constexpr std::size_t kBodyBytes = std::size_t{8} * 1024 * 1024;
constexpr std::size_t kRoomForTheRest =
    std::size_t{64} * 1024;  // of an envelope whose payload is as large as it may be

Result<std::vector<store::NewEvent>> prepare(PublishEndpoint& endpoint, PublishBody body) {
  if (body.events.empty() && !body.cloudevents) return invalid("events", "events must have at least one event");
  if (body.events.size() > kMostEvents) {
    return invalid("events", "events must have at most " + std::to_string(kMostEvents) + " events, not " +
                                 std::to_string(body.events.size()));
  }
  std::vector<store::NewEvent> events;
  events.reserve(body.events.size());
  for (ops::PublishRequest& request : body.events) {
    auto event = endpoint.prepare(std::move(request));
    if (!event) return at_event(std::move(event).error(), events.size(), body);
    events.push_back(*std::move(event));
  }
  return events;
}

Response stored_one(std::span<const store::NewEvent> events, std::span<const store::PublishOutcome> outcomes) {
  return json_response(201, ops::to_json(events.front(), outcomes.front()));
}

Response stored_many(std::span<const store::NewEvent> events, std::span<const store::PublishOutcome> outcomes) {
  std::vector<std::string> texts;
  texts.reserve(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) texts.push_back(ops::to_json(events[i], outcomes[i]));
  const auto count = static_cast<std::int64_t>(events.size());
  return json_response(201, JsonObject{}.array("events", texts).number("count", count).str());
}

void publish(PublishEndpoint& endpoint, const Call& call, Respond respond) {
  auto body = read_publish(call.request);
  if (!body) {
    return respond(problem(415, "unsupported_media",
                           "send application/json, application/cloudevents+json, application/cloudevents-batch+json, "
                           "or JSON with ce-* headers"));
  }
  if (!*body) return respond(problem((*body).error()));
  const bool many = (*body)->many;
  auto span = ops::begin_publish(endpoint.tracer(), (*body)->events, call.request.header("traceparent"));
  auto events = prepare(endpoint, **std::move(body));
  if (!events) telemetry::note_error(span.get(), events.error());
  if (!events) return respond(problem(events.error()));
  // An empty batch is a batch.
  if (events->empty()) return respond(json_response(200, R"({"events":[],"count":0})"));
  endpoint.store(*std::move(events), many ? stored_many : stored_one, std::move(respond), std::move(span));
}

}  // namespace

Error at_event(Error error, std::size_t index, const PublishBody& body) {
  if (body.cloudevents) error = ops::in_terms_of_attributes(std::move(error));
  if (body.many) error.field = at_index(index, error.field);
  if (body.many) error.message = error.field + ": " + error.message;
  return error;
}

PublishEndpoint::PublishEndpoint(ops::PublishQueue& queue, store::Administering& store, PublishEndpointOptions options)
    : queue_(queue), store_(store), options_(std::move(options)) {}

Result<store::NewEvent> PublishEndpoint::prepare(ops::PublishRequest request) {
  if (!request.id) {
    const std::lock_guard lock{mutex_};
    request.id = ids_.next(options_.entropy.clock(), options_.entropy.random());
  }
  // With an id given it keeps nothing from one event to the next.
  ops::EventPublishing publishing{options_.entropy, options_.limits};
  const Generation generation = request.generation.value_or(options_.generation);
  return publishing.prepare(std::move(request), generation);
}

void PublishEndpoint::store(std::vector<store::NewEvent> events, Stored stored, Respond respond,
                            std::unique_ptr<Span> span) {
  ops::describe(span.get(), events);
  queue_.submit(
      std::move(events),
      [this, stored = std::move(stored), respond = std::move(respond), shared = std::shared_ptr<Span>{std::move(span)}](
          std::span<const store::NewEvent> own, const ops::PublishQueue::Outcomes& outcomes) mutable {
        const std::shared_ptr<Span> ending = std::move(shared);
        count(own, outcomes);
        if (!outcomes) telemetry::note_error(ending.get(), outcomes.error());
        if (!outcomes) return respond(problem(explained(outcomes.error(), own)));
        log(own, *outcomes, ending ? ending->traceparent() : std::string_view{});
        answer(own, *outcomes, stored, respond);
      });
}

Result<void> PublishEndpoint::show_stored(std::vector<store::NewEvent>& events,
                                          std::span<const store::PublishOutcome> outcomes) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (outcomes[i] == store::PublishOutcome::published) continue;
    SLUICE_TRY(events[i], ops::stored_event(store_, events[i].envelope.event_id()));
  }
  return {};
}

void PublishEndpoint::answer(std::span<const store::NewEvent> events, std::span<const store::PublishOutcome> outcomes,
                             const Stored& stored, Respond respond) {
  const auto is_new = [](store::PublishOutcome outcome) { return outcome == store::PublishOutcome::published; };
  if (std::all_of(outcomes.begin(), outcomes.end(), is_new)) return respond(stored(events, outcomes));
  struct Told {
    std::vector<store::NewEvent> events;
    std::vector<store::PublishOutcome> outcomes;
  };
  const auto told = std::make_shared<Told>(Told{{events.begin(), events.end()}, {outcomes.begin(), outcomes.end()}});
  const auto look_up = [this, told, stored, respond = std::move(respond)] {
    // To repeat the request is safe.
    if (auto shown = show_stored(told->events, told->outcomes); !shown) return respond(problem(shown.error()));
    respond(stored(told->events, told->outcomes));
  };
  if (!options_.elsewhere || !options_.elsewhere(look_up)) look_up();
}

void PublishEndpoint::count(std::span<const store::NewEvent> events,
                            const ops::PublishQueue::Outcomes& outcomes) const {
  if (!options_.on_outcome) return;
  if (!outcomes)
    return options_.on_outcome(outcomes.error().retry == Retry::never ? "refused" : "error", events.size());
  const auto fresh = std::count(outcomes->begin(), outcomes->end(), store::PublishOutcome::published);
  if (fresh > 0) options_.on_outcome("published", static_cast<std::size_t>(fresh));
  const std::size_t again = events.size() - static_cast<std::size_t>(fresh);
  if (again > 0) options_.on_outcome("duplicate", again);
}

void PublishEndpoint::log(std::span<const store::NewEvent> events, std::span<const store::PublishOutcome> outcomes,
                          std::string_view span) const {
  if (!options_.logger.enabled(telemetry::Level::info)) return;
  for (std::size_t i = 0; i < events.size(); ++i) {
    telemetry::log_published(options_.logger.with_generation(events[i].generation), events[i].envelope,
                             outcomes[i] == store::PublishOutcome::published, span);
  }
}

std::vector<Route> publish_routes(PublishEndpoint& endpoint) {
  Route route;
  route.method = "POST";
  route.pattern = "/v1/events";
  route.role = Role::operator_;
  route.body_limit = std::max(kBodyBytes, endpoint.limits().payload_bytes + kRoomForTheRest);
  route.later = [&endpoint](const Call& call, Respond respond) { publish(endpoint, call, std::move(respond)); };
  return {std::move(route)};
}

}  // namespace sluice::http
