#include "http/routes_hooks.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/json.hpp"
#include "core/json_object.hpp"
#include "core/utf8.hpp"
#include "http/message.hpp"
#include "http/router.hpp"
#include "ops/publish_trace.hpp"
#include "ops/webhook.hpp"
#include "telemetry/messaging.hpp"

namespace sluice::http {
namespace {

using config::HookConfig;
using Hooks = std::vector<HookConfig>;

// A form may need three bytes for one of the payload's.
constexpr std::size_t kFormFactor = 3;

Result<std::string> payload_field(const std::string& form) {
  const auto target = parse_target("/?" + form);
  if (!target) return invalid("body", "the form cannot be read");
  const auto field = target->query.find("payload");
  if (field != target->query.end()) return field->second;
  return invalid("body", "the form has no field `payload` with the event as JSON; have the provider send JSON");
}

Result<std::string> quoted(const std::string& text) {
  if (utf8::is_valid(text) && text.find('\0') == std::string::npos) return json::quote(text);
  return invalid("body", "a body of text must be UTF-8 without NUL characters");
}

// None: a media type that is not taken.
std::optional<Result<std::string>> json_of(const Request& request) {
  const std::string media = media_type(request);
  if (media.empty() || media == "application/json" || media.ends_with("+json"))
    return Result<std::string>{request.body};
  if (media == "application/x-www-form-urlencoded") return payload_field(request.body);
  if (media == "text/plain") return quoted(request.body);
  return std::nullopt;
}

Response refusal(const Error& error) {
  return error.code == ErrorCode::forbidden ? problem(401, "unauthorized", error.message) : problem(error);
}

Response stored(std::span<const store::NewEvent> events, std::span<const store::PublishOutcome> outcomes) {
  const bool fresh = outcomes.front() == store::PublishOutcome::published;
  return json_response(fresh ? 202 : 200, JsonObject{}
                                              .uuid("event_id", events.front().envelope.event_id())
                                              .text("outcome", fresh ? "published" : "duplicate")
                                              .str());
}

void receive(PublishEndpoint& endpoint, const Hooks& hooks, const Call& call, Respond respond) {
  const std::string& source = call.path.at("source");
  const auto hook =
      std::find_if(hooks.begin(), hooks.end(), [&](const HookConfig& each) { return each.source == source; });
  if (hook == hooks.end()) return respond(problem(404, "not_found", "there is no hook `" + source + "`"));
  const auto label = ops::verify_webhook(*hook, {call.request.headers, call.request.body, endpoint.now()});
  if (!label) return respond(refusal(label.error()));
  auto json = json_of(call.request);
  if (!json) {
    return respond(problem(415, "unsupported_media",
                           "have the provider send application/json, application/x-www-form-urlencoded or text/plain"));
  }
  if (!*json) return respond(problem(json->error()));
  auto request = ops::publish_request(*hook, *label, **std::move(json));
  if (!request) return respond(problem(request.error()));
  if (request->payload.size() > endpoint.limits().payload_bytes) {
    return respond(problem(
        413, "too_large", "the payload must be at most " + std::to_string(endpoint.limits().payload_bytes) + " bytes"));
  }
  // A trace begins here: a provider's own is a stranger's, whose sampling is not ours.
  auto span = ops::begin_publish(endpoint.tracer(), {&*request, 1}, std::nullopt);
  auto event = endpoint.prepare(*std::move(request));
  if (!event) telemetry::note_error(span.get(), event.error());
  if (!event) return respond(problem(event.error()));
  endpoint.store({*std::move(event)}, stored, std::move(respond), std::move(span));
}

}  // namespace

std::vector<Route> hook_routes(PublishEndpoint& endpoint, std::vector<HookConfig> hooks, OnHook on_hook) {
  Route route;
  route.method = "POST";
  route.pattern = "/hooks/{source}";
  route.role = Role::anyone;
  route.body_limit = kFormFactor * endpoint.limits().payload_bytes;
  route.later = [&endpoint, known = std::make_shared<const Hooks>(std::move(hooks)), on_hook = std::move(on_hook)](
                    Call call, Respond respond) {
    const std::string& source = call.path.at("source");
    const bool declared =
        std::any_of(known->begin(), known->end(), [&](const auto& each) { return each.source == source; });
    receive(endpoint, *known, call,
            [respond = std::move(respond), on_hook, label = declared ? source : "unknown"](Response response) {
              if (on_hook) on_hook(label, response.status);
              respond(std::move(response));
            });
  };
  return {std::move(route)};
}

}  // namespace sluice::http
