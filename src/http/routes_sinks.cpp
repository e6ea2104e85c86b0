// /v1/sinks: where events go, how they fare there, and switching them.
#include <utility>

#include "http/reading.hpp"
#include "http/routes.hpp"
#include "ops/json_object.hpp"

namespace sluice::http {
namespace {

std::string to_json(const SinkReport& report) {
  const sink::SinkStatus& status = report.status;
  const auto tried = status.delivered + status.failed;
  ops::JsonObject object;
  object.text("name", status.name)
      .text("kind", status.kind)
      .text("target", status.target)
      .text("state", name(status.state))
      .number("in_flight", status.in_flight)
      .number("delivered", status.delivered)
      .number("failed", status.failed)
      .raw("success_rate",
           tried > 0 ? ops::json_decimal(static_cast<double>(status.delivered) / static_cast<double>(tried)) : "null")
      .decimal("p50_ms", status.p50_ms)
      .decimal("p95_ms", status.p95_ms)
      .text("last_error", status.last_error)
      .time("last_failed_at", status.last_failed_at)
      .time("resumes_at", status.resumes_at)
      .texts("subscriptions", report.subscriptions);
  return object.str();
}

Result<std::string> list_sinks(Desk& desk, const Call&) {
  std::vector<std::string> texts;
  if (desk.sinks != nullptr) {
    for (const SinkReport& report : desk.sinks->list()) texts.push_back(to_json(report));
  }
  return ops::JsonObject{}.array("sinks", texts).str();
}

Error no_such_sink(const std::string& name) {
  return {ErrorCode::not_found, Retry::never, "there is no sink " + name, "name", "`GET /v1/sinks` lists them"};
}

Result<std::string> change(Desk& desk, const Call& call,
                           Result<SinkReport> (SinkDesk::*verb)(const std::string&, const store::Actor&)) {
  const auto body = body_of(call, {reason_parameter()});
  if (!body) return body.error();
  const std::string& name = call.path.at("name");
  if (desk.sinks == nullptr) return no_such_sink(name);
  const auto changed = (desk.sinks->*verb)(name, actor_of(call, *body->text("reason")));
  if (!changed) return changed.error();
  return to_json(*changed);
}

Result<std::string> pause(Desk& desk, const Call& call) { return change(desk, call, &SinkDesk::pause); }
Result<std::string> resume(Desk& desk, const Call& call) { return change(desk, call, &SinkDesk::resume); }

Result<std::string> test(Desk& desk, const Call& call) {
  const auto body = body_of(call, {});
  if (!body) return body.error();
  const std::string& name = call.path.at("name");
  if (desk.sinks == nullptr) return no_such_sink(name);
  const auto tested = desk.sinks->probe(name);
  if (!tested) return tested.error();
  return ops::JsonObject{}
      .boolean("ok", tested->ok)
      .text("status", tested->status)
      .text("detail", tested->detail)
      .decimal("took_ms", std::chrono::duration<double, std::milli>(tested->took).count())
      .str();
}

}  // namespace

std::vector<Route> sink_routes(Desk& desk) {
  return {reading_route(desk, "/v1/sinks", list_sinks),
          changing_route(desk, {"/v1/sinks/{name}/pause", Role::admin}, pause),
          changing_route(desk, {"/v1/sinks/{name}/resume", Role::admin}, resume),
          changing_route(desk, {"/v1/sinks/{name}/test", Role::admin}, test)};
}

}  // namespace sluice::http
