#include "http/routes_publish.hpp"

#include <algorithm>
#include <utility>

#include "core/json_object.hpp"
#include "http/publish_body.hpp"
#include "ops/event_json.hpp"

namespace sluice::http {
namespace {

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
  auto events = prepare(endpoint, **std::move(body));
  if (!events) return respond(problem(events.error()));
  // An empty batch is a batch.
  if (events->empty()) return respond(json_response(200, R"({"events":[],"count":0})"));
  endpoint.store(*std::move(events), many ? stored_many : stored_one, std::move(respond));
}

}  // namespace

std::vector<Route> publish_routes(PublishEndpoint& endpoint) {
  Route route;
  route.method = "POST";
  route.pattern = "/v1/events";
  route.role = Role::operator_;
  route.body_limit = std::max(kBodyBytes, endpoint.limits().payload_bytes + kRoomForTheRest);
  route.later = [&endpoint](Call call, Respond respond) { publish(endpoint, call, std::move(respond)); };
  return {std::move(route)};
}

}  // namespace sluice::http
