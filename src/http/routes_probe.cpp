// For machines that look on: health, metrics, and the contract of this API.
#include <utility>

#include "core/json_object.hpp"
#include "http/openapi.hpp"
#include "http/reading.hpp"
#include "http/routes.hpp"
#include "ops/schema.hpp"

namespace sluice::http {
namespace {

Route probe(std::string pattern, Role role, Answer answer) {
  return {"GET", std::move(pattern), role, 0, std::move(answer), {}};
}

// The process answers; whether the store does is asked by the other one.
Response health(const Call&) { return json_response(200, R"({"status":"ok"})"); }

Response readiness(Context& context) {
  if (context.ready && !context.ready()) return problem(503, "stopping", "the daemon is stopping");
  // The subscriptions, because a database can answer and have lost its schema.
  if (const auto ready = ops::check_ready(context.store, context.generation); !ready) {
    Error error = ready.error();
    error.code = ErrorCode::unavailable;
    return problem(error);
  }
  if (const auto trouble = context.trouble ? context.trouble() : std::nullopt) {
    return problem(503, "not_delivering", "the workers cannot claim or settle events: " + trouble->message);
  }
  return json_response(200, R"({"status":"ok"})");
}

Response metrics(Context& context, const Call& call) {
  Exposed exposed = context.metrics(call.request.header("accept").value_or(""));
  Response response{200, {}, std::move(exposed.text), {}};
  response.with("Content-Type", std::move(exposed.type));
  return response;
}

}  // namespace

std::vector<Route> probe_routes(Context& context) {
  return {probe("/healthz", Role::anyone, health),
          probe("/readyz", Role::anyone, [&context](const Call&) { return readiness(context); }),
          probe("/metrics", Role::viewer, [&context](const Call& call) { return metrics(context, call); }),
          probe("/openapi.json", Role::anyone, [](const Call&) { return json_response(200, std::string{kOpenApi}); })};
}

}  // namespace sluice::http
