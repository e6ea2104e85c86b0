// For machines that look on: health, metrics, and the contract of this API.
#include <utility>

#include "http/openapi.hpp"
#include "http/reading.hpp"
#include "http/routes.hpp"
#include "ops/json_object.hpp"
#include "ops/schema.hpp"

namespace sluice::http {
namespace {

Route probe(std::string pattern, Role role, Answer answer) {
  return {"GET", std::move(pattern), role, 0, std::move(answer), {}};
}

// The process answers; whether the store does is asked by the other one.
Response health(const Call&) { return json_response(200, R"({"status":"ok"})"); }

Response readiness(Desk& desk) {
  if (desk.ready && !desk.ready()) return problem(503, "stopping", "the daemon is stopping");
  // The subscriptions, because a database can answer and have lost its schema.
  if (const auto ready = ops::check_ready(desk.store, desk.generation); !ready) {
    Error error = ready.error();
    error.code = ErrorCode::unavailable;
    return problem(error);
  }
  if (const auto trouble = desk.trouble ? desk.trouble() : std::nullopt) {
    return problem(503, "not_delivering", "the workers cannot claim or settle events: " + trouble->message);
  }
  return json_response(200, R"({"status":"ok"})");
}

Response metrics(Desk& desk, const Call& call) {
  Exposed exposed = desk.metrics(call.request.header("accept").value_or(""));
  Response response{200, {}, std::move(exposed.text), {}};
  response.with("Content-Type", std::move(exposed.type));
  return response;
}

}  // namespace

std::vector<Route> probe_routes(Desk& desk) {
  return {probe("/healthz", Role::anyone, health),
          probe("/readyz", Role::anyone, [&desk](const Call&) { return readiness(desk); }),
          probe("/metrics", Role::viewer, [&desk](const Call& call) { return metrics(desk, call); }),
          probe("/openapi.json", Role::anyone, [](const Call&) { return json_response(200, std::string{kOpenApi}); })};
}

}  // namespace sluice::http
