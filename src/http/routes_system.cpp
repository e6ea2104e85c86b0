// Who am I, and how is everything: me, overview, status, doctor, workers, subscriptions, storage, audit.
#include <utility>

#include "http/reading.hpp"
#include "http/routes.hpp"
#include "ops/audit.hpp"
#include "ops/doctor.hpp"
#include "ops/json_object.hpp"
#include "ops/overview.hpp"
#include "ops/schema.hpp"
#include "ops/status_report.hpp"
#include "ops/storage_report.hpp"
#include "ops/subscriptions.hpp"
#include "ops/when.hpp"
#include "ops/workers.hpp"

namespace sluice::http {
namespace {

Result<std::string> me(Desk& desk, const Call& call) {
  return ops::JsonObject{}
      .text("name", call.caller.name)
      .text("role", name(call.caller.role))
      .text("version", desk.version)
      .text("store", ops::name_of(desk.store))
      .number("generation", desk.generation)
      .boolean("tokens_required", call.caller.by_token)
      .boolean("read_only", desk.read_only)
      .raw("capabilities", ops::JsonObject{}.boolean("listen", ops::listens(desk.store)).str())
      .str();
}

Result<std::string> overview(Desk& desk, const Call& call) {
  if (auto known = check_query(call, {"window"}); !known) return std::move(known).error();
  const auto window = ops::parse_window(call.request.parameter("window").value_or("1h"));
  if (!window) return window.error();
  return desk.overview(*window);
}

Result<std::string> storage(Desk& desk, const Call&) {
  const auto report = ops::report_storage(desk.store, desk.retention);
  if (!report) return report.error();
  return ops::to_json(*report);
}

Result<std::string> status(Desk& desk, const Call&) {
  const auto report = ops::report_status(desk.store);
  if (!report) return report.error();
  return ops::to_json(*report);
}

Result<std::string> doctor(Desk& desk, const Call&) {
  return ops::to_json(ops::examine(desk.store, {desk.retention, desk.entropy.clock}));
}

Result<std::string> workers(Desk& desk, const Call&) {
  const auto seen = ops::list_workers(desk.store);
  if (!seen) return seen.error();
  std::vector<std::string> texts;
  for (const auto& worker : seen->workers) texts.push_back(ops::to_json(worker, seen->now));
  return ops::JsonObject{}.time("now", seen->now).array("workers", texts).str();
}

Result<std::string> subscriptions(Desk& desk, const Call&) {
  const auto all = ops::list_subscriptions(desk.store);
  if (!all) return all.error();
  std::vector<std::string> texts;
  for (const auto& one : *all) texts.push_back(ops::to_json(one));
  return ops::JsonObject{}.array("subscriptions", texts).str();
}

Result<void> take_time(Desk& desk, const Call& call, std::string_view name, std::optional<Timestamp>& into) {
  const auto text = call.request.parameter(name);
  if (!text) return {};
  const auto now = ops::now(desk.store);
  if (!now) return now.error();
  into = ops::parse_when(*text, *now);
  if (into) return {};
  return invalid(std::string{name},
                 std::string{name} + " must be a duration like 2h or a time like " + "2026-04-25T01:43:02Z");
}

Result<std::string> audit(Desk& desk, const Call& call) {
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
  if (auto taken = take_time(desk, call, "since", request.filter.since); !taken) return std::move(taken).error();
  if (auto taken = take_time(desk, call, "until", request.filter.until); !taken) return std::move(taken).error();
  const auto limit = number_parameter(call, "limit", request.limit, 1, ops::kMaxPage);
  if (!limit) return limit.error();
  request.limit = *limit;
  request.cursor = call.request.parameter("cursor");
  const auto found = ops::list_audit(desk.store, request);
  if (!found) return found.error();
  return ops::to_json(*found);
}

}  // namespace

std::vector<Route> system_routes(Desk& desk) {
  return {reading_route(desk, "/v1/me", me),           reading_route(desk, "/v1/overview", overview),
          reading_route(desk, "/v1/status", status),   reading_route(desk, "/v1/doctor", doctor),
          reading_route(desk, "/v1/workers", workers), reading_route(desk, "/v1/subscriptions", subscriptions),
          reading_route(desk, "/v1/storage", storage), reading_route(desk, "/v1/audit", audit)};
}

}  // namespace sluice::http
