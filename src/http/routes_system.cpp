// Who am I, and how is everything: me, overview, status, doctor, workers, subscriptions, storage, audit.
#include <utility>

#include "core/json_object.hpp"
#include "http/reading.hpp"
#include "http/routes.hpp"
#include "ops/audit.hpp"
#include "ops/doctor.hpp"
#include "ops/overview.hpp"
#include "ops/schema.hpp"
#include "ops/status_report.hpp"
#include "ops/storage_report.hpp"
#include "ops/subscriptions.hpp"
#include "ops/when.hpp"
#include "ops/workers.hpp"

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
  if (auto known = check_query(call, {"window"}); !known) return std::move(known).error();
  const auto window = ops::parse_window(call.request.parameter("window").value_or("1h"));
  if (!window) return window.error();
  return context.overview(*window);
}

Result<std::string> storage(Context& context, const Call&) {
  const auto report = ops::report_storage(context.store, context.retention);
  if (!report) return report.error();
  return ops::to_json(*report);
}

Result<std::string> status(Context& context, const Call&) {
  const auto report = ops::report_status(context.store);
  if (!report) return report.error();
  return ops::to_json(*report);
}

Result<std::string> doctor(Context& context, const Call&) {
  return ops::to_json(ops::examine(context.store, {context.retention, context.entropy.clock}));
}

Result<std::string> workers(Context& context, const Call&) {
  const auto seen = ops::list_workers(context.store);
  if (!seen) return seen.error();
  std::vector<std::string> texts;
  for (const auto& worker : seen->workers) texts.push_back(ops::to_json(worker, seen->now));
  return JsonObject{}.time("now", seen->now).array("workers", texts).str();
}

Result<std::string> subscriptions(Context& context, const Call&) {
  const auto all = ops::list_subscriptions(context.store);
  if (!all) return all.error();
  std::vector<std::string> texts;
  for (const auto& one : *all) texts.push_back(ops::to_json(one));
  return JsonObject{}.array("subscriptions", texts).str();
}

Result<void> take_time(Context& context, const Call& call, std::string_view name, std::optional<Timestamp>& into) {
  const auto text = call.request.parameter(name);
  if (!text) return {};
  const auto now = ops::now(context.store);
  if (!now) return now.error();
  into = ops::parse_when(*text, *now);
  if (into) return {};
  return invalid(std::string{name},
                 std::string{name} + " must be a duration like 2h or a time like " + "2026-04-25T01:43:02Z");
}

Result<std::string> audit(Context& context, const Call& call) {
  if (auto known = check_query(call, {"actor", "surface", "action", "event_id", "since", "until", "limit", "cursor"});
      !known) {
    return std::move(known).error();
  }
  ops::AuditRequest request;
  const auto text = [&call](std::string_view name) { return call.request.parameter(name).value_or(""); };
  request.filter.actor = text("actor");
  request.filter.surface = text("surface");
  request.filter.action = text("action");
  if (const auto id = call.request.parameter("event_id")) {
    const auto parsed = Uuid::parse(*id, "event_id");
    if (!parsed) return parsed.error();
    request.filter.event_id = *parsed;
  }
  if (auto taken = take_time(context, call, "since", request.filter.since); !taken) return std::move(taken).error();
  if (auto taken = take_time(context, call, "until", request.filter.until); !taken) return std::move(taken).error();
  const auto limit = number_parameter(call, "limit", request.limit, 1, ops::kMaxPage);
  if (!limit) return limit.error();
  request.limit = *limit;
  request.cursor = call.request.parameter("cursor");
  const auto found = ops::list_audit(context.store, request);
  if (!found) return found.error();
  return ops::to_json(*found);
}

}  // namespace

std::vector<Route> system_routes(Context& context) {
  return {reading_route(context, "/v1/me", me),           reading_route(context, "/v1/overview", overview),
          reading_route(context, "/v1/status", status),   reading_route(context, "/v1/doctor", doctor),
          reading_route(context, "/v1/workers", workers), reading_route(context, "/v1/subscriptions", subscriptions),
          reading_route(context, "/v1/storage", storage), reading_route(context, "/v1/audit", audit)};
}

}  // namespace sluice::http
