// Who am I, and how is everything: me, overview, status, doctor, workers, subscriptions, storage, audit; and for
// machines that watch: health, metrics, and the contract of this API.
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "http/openapi.hpp"
#include "http/reading.hpp"
#include "http/routes.hpp"
#include "ops/audit.hpp"
#include "ops/doctor.hpp"
#include "ops/event_query.hpp"
#include "ops/history.hpp"
#include "ops/ladder.hpp"
#include "ops/overview.hpp"
#include "ops/schema.hpp"
#include "ops/status_report.hpp"
#include "ops/storage.hpp"
#include "ops/subscriptions.hpp"

namespace sluice::http {
namespace {

Result<std::string> me(Context& context, const Call& call) {
  return JsonObject{}
      .text("name", call.caller.name)
      .text("role", name(call.caller.role))
      .text("version", context.version)
      .text("store", ops::name_of(context.store))
      .number("generation", context.generation)
      .boolean("tokens_required", call.caller.by_token)
      .boolean("read_only", context.read_only)
      .raw("capabilities", JsonObject{}.boolean("listen", ops::listens(context.store)).str())
      .str();
}

Result<std::string> overview(Context& context, const Call& call) {
  SLUICE_CHECK(check_query(call, {"window"}));
  SLUICE_TRY(const auto window, ops::parse_window(call.request.parameter("window").value_or("1h")));
  return context.overview(window);
}

Result<std::string> history(Context& context, const Call& call) {
  SLUICE_CHECK(check_query(call, {"window", "kind", "name"}));
  const auto text = [&call](std::string_view name, std::string_view fallback) {
    return call.request.parameter(name).value_or(std::string{fallback});
  };
  SLUICE_TRY(const auto request,
             ops::history_request(text("window", "1h"), text("kind", "all"), call.request.parameter("name")));
  return ops::report_history(context.store, request);
}

Result<std::string> storage(Context& context, const Call&) {
  SLUICE_TRY(const auto report, ops::report_storage(context.store, context.retention));
  return ops::to_json(report);
}

Result<std::string> ladder(Context& context, const Call&) {
  SLUICE_TRY(const auto report, ops::report_ladder(context.store));
  return ops::to_json(report);
}

Result<std::string> status(Context& context, const Call&) {
  SLUICE_TRY(const auto report, ops::report_status(context.store));
  return ops::to_json(report);
}

Result<std::string> doctor(Context& context, const Call&) {
  return ops::to_json(ops::examine(context.store, {.retention = context.retention,
                                                   .clock = context.entropy.clock,
                                                   .broker = context.broker,
                                                   .dead_letters = context.dead_letters,
                                                   .relay = context.relay}));
}

Result<std::string> workers(Context& context, const Call&) {
  SLUICE_TRY(const auto seen, ops::list_workers(context.store));
  std::vector<std::string> texts;
  for (const auto& worker : seen.workers) texts.push_back(ops::to_json(worker, seen.now));
  return JsonObject{}.time("now", seen.now).array("workers", texts).str();
}

Result<std::string> subscriptions(Context& context, const Call&) {
  SLUICE_TRY(const auto all, ops::list_subscriptions(context.store));
  std::vector<std::string> texts;
  for (const auto& one : all) texts.push_back(ops::to_json(one));
  return JsonObject{}.array("subscriptions", texts).str();
}

Result<void> take_time(Context& context, const Call& call, std::string_view name, std::optional<Timestamp>& into) {
  const auto text = call.request.parameter(name);
  if (!text) return {};
  SLUICE_TRY(const auto now, ops::now(context.store));
  into = ops::parse_when(*text, now);
  if (into) return {};
  return invalid(std::string{name},
                 std::string{name} + " must be a duration like 2h or a time like " + "2026-04-25T01:43:02Z");
}

Result<std::string> audit(Context& context, const Call& call) {
  SLUICE_CHECK(check_query(call, {"actor", "surface", "action", "event_id", "since", "until", "limit", "cursor"}));
  ops::AuditRequest request;
  const auto text = [&call](std::string_view name) { return call.request.parameter(name).value_or(""); };
  request.filter.actor = text("actor");
  request.filter.surface = text("surface");
  request.filter.action = text("action");
  if (const auto id = call.request.parameter("event_id")) {
    SLUICE_TRY(request.filter.event_id, ops::whole_id(context.store, *id, "event_id"));
  }
  SLUICE_CHECK(take_time(context, call, "since", request.filter.since));
  SLUICE_CHECK(take_time(context, call, "until", request.filter.until));
  SLUICE_TRY(request.limit, number_parameter(call, "limit", request.limit, 1, ops::kMaxPage));
  request.cursor = call.request.parameter("cursor");
  SLUICE_TRY(const auto found, ops::list_audit(context.store, request));
  return ops::to_json(found);
}

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

std::vector<Route> system_routes(Context& context) {
  return {reading_route(context, "/v1/me", me),           reading_route(context, "/v1/overview", overview),
          reading_route(context, "/v1/status", status),   reading_route(context, "/v1/doctor", doctor),
          reading_route(context, "/v1/workers", workers), reading_route(context, "/v1/subscriptions", subscriptions),
          reading_route(context, "/v1/storage", storage), reading_route(context, "/v1/audit", audit),
          reading_route(context, "/v1/ladder", ladder),   reading_route(context, "/v1/history", history)};
}

std::vector<Route> probe_routes(Context& context) {
  return {probe("/healthz", Role::anyone, health),
          probe("/readyz", Role::anyone, [&context](const Call&) { return readiness(context); }),
          probe("/metrics", Role::viewer, [&context](const Call& call) { return metrics(context, call); }),
          probe("/openapi.json", Role::anyone, [](const Call&) { return json_response(200, std::string{kOpenApi}); })};
}

}  // namespace sluice::http
