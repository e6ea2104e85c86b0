// /v1/sinks: where events go, how they fare there, and switching them.
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "http/reading.hpp"
#include "http/routes.hpp"
#include "ops/schema.hpp"
#include "ops/sinks.hpp"

namespace sluice::http {
namespace {

// With what this process knows of its deliveries; one that it does not serve has none.
std::string to_json(const store::SinkRecord& sink, Timestamp now, const std::optional<sink::SinkStatus>& here) {
  const sink::SinkStatus status = here.value_or(sink::SinkStatus{});
  const auto tried = status.delivered + status.failed;
  return JsonObject{ops::to_json(sink, now)}
      .boolean("served_here", here.has_value())
      .number("in_flight", status.in_flight)
      .number("delivered", status.delivered)
      .number("failed", status.failed)
      .raw("success_rate",
           tried > 0 ? json_decimal(static_cast<double>(status.delivered) / static_cast<double>(tried)) : "null")
      .decimal("p50_ms", status.p50_ms)
      .decimal("p95_ms", status.p95_ms)
      .text("last_error", status.last_error)
      .time("last_failed_at", status.last_failed_at)
      .str();
}

std::optional<sink::SinkStatus> here(const Context& context, const std::string& name) {
  if (context.sinks == nullptr) return std::nullopt;
  for (sink::SinkStatus& status : context.sinks->list()) {
    if (status.name == name) return std::move(status);
  }
  return std::nullopt;
}

Result<std::string> list_sinks(Context& context, const Call&) {
  SLUICE_TRY(const auto all, ops::list_sinks(context.store));
  std::vector<std::string> texts;
  for (const store::SinkRecord& sink : all.sinks) {
    texts.push_back(to_json(sink, all.now, here(context, sink.declared.name)));
  }
  return JsonObject{}.array("sinks", texts).str();
}

Error no_such_sink(const std::string& name) {
  return {ErrorCode::not_found, Retry::never, "this daemon has no sink " + name, "name", "`GET /v1/sinks` lists them"};
}

using SwitchSink = Result<store::SinkRecord> (*)(store::Administering&, const std::string&, const store::Actor&);

Result<std::string> change(Context& context, const Call& call, SwitchSink use) {
  SLUICE_TRY(const auto body, body_of(call, {reason_parameter()}));
  SLUICE_TRY(const auto changed, use(context.store, call.path.at("name"), actor_of(call, *body.text("reason"))));
  if (context.sinks != nullptr) context.sinks->refresh();
  SLUICE_TRY(const auto now, ops::now(context.store));
  return to_json(changed, now, here(context, changed.declared.name));
}

Result<std::string> pause(Context& context, const Call& call) { return change(context, call, ops::pause_sink); }
Result<std::string> resume(Context& context, const Call& call) { return change(context, call, ops::resume_sink); }

Result<std::string> test(Context& context, const Call& call) {
  SLUICE_CHECK(body_of(call, {}));
  const std::string& name = call.path.at("name");
  if (context.sinks == nullptr) return no_such_sink(name);
  SLUICE_TRY(const auto tested, context.sinks->probe(name));
  return ops::to_json(ops::Trial{tested.ok, tested.status, tested.detail, tested.took});
}

}  // namespace

std::vector<Route> sink_routes(Context& context) {
  return {reading_route(context, "/v1/sinks", list_sinks),
          changing_route(context, {"/v1/sinks/{name}/pause", Role::admin}, pause),
          changing_route(context, {"/v1/sinks/{name}/resume", Role::admin}, resume),
          changing_route(context, {"/v1/sinks/{name}/test", Role::admin}, test)};
}

}  // namespace sluice::http
