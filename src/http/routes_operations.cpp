// /v1/plans and /v1/operations: bulk changes, planned, started and steered.
#include <limits>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "http/reading.hpp"
#include "http/routes.hpp"
#include "ops/operations.hpp"

namespace sluice::http {
namespace {

using ops::Parameter;
using Type = Parameter::Type;
// Whatever the use case refuses: any other bound here would be a second opinion.
constexpr std::int64_t kLeast = std::numeric_limits<int>::min();
constexpr std::int64_t kMost = std::numeric_limits<int>::max();

std::vector<Parameter> pace() {
  return {{"rate", Type::integer, false, "events per second; 0: as fast as they are delivered", kLeast, kMost},
          {"canary", Type::integer, false, "this many first, and the rest when they went well", kLeast, kMost},
          {"stop_percent", Type::integer, false, "stops when more than this share fails again", kLeast, kMost}};
}

ops::NewSettings settings_of(const ops::Arguments& body) {
  const auto setting = [&body](std::string_view name) {
    const auto given = body.integer(name);
    return given ? std::optional{static_cast<int>(*given)} : std::nullopt;
  };
  return {setting("rate"), setting("canary"), setting("stop_percent")};
}

std::vector<Parameter> plan_parameters() {
  std::vector<Parameter> all{{"kind", Type::text, false, "replay, discard or restore; default replay"},
                             {"filter", Type::text, false, "which events, in the grammar of filters"},
                             {"event_ids", Type::texts, false, "these events instead of a filter"},
                             {"except", Type::texts, false, "not these, of what the filter names"},
                             {"all", Type::boolean, false, "every dead letter, where no filter is given"},
                             {"to_generation", Type::integer, false, "of a replay; default: the newest live one", 1},
                             {"reason", Type::reason, false, "why; needed when it is started, at the latest"},
                             {"dry_run", Type::boolean, false, "only say what would happen"}};
  for (const Parameter& parameter : pace()) all.push_back(parameter);
  return all;
}

Result<std::vector<Uuid>> events_of(store::Administering& store, const ops::Arguments& body, std::string_view name) {
  std::vector<Uuid> ids;
  for (const std::string& given : body.texts(name)) {
    SLUICE_TRY(const auto id, ops::whole_id(store, given, name));
    ids.push_back(id);
  }
  return ids;
}

Result<ops::BulkRequest> request_of(store::Administering& store, const ops::Arguments& body) {
  ops::BulkRequest request;
  if (const auto kind = body.text("kind")) {
    const auto known = parse_operation_kind(*kind);
    if (!known) return invalid("kind", "kind must be replay, discard or restore");
    request.kind = *known;
  }
  SLUICE_TRY(request.query, ops::EventQuery::parse(body.text("filter").value_or("")));
  SLUICE_TRY(request.event_ids, events_of(store, body, "event_ids"));
  SLUICE_TRY(request.except, events_of(store, body, "except"));
  if (!request.event_ids.empty() && (!request.query.empty() || !request.except.empty())) {
    return invalid("event_ids", "event_ids stand for themselves: leave out filter and except");
  }
  if (request.event_ids.empty() && request.query.empty() && !body.flag("all")) {
    return invalid("filter", "say which events: filter, event_ids, or all: true for every dead letter");
  }
  request.to_generation = body.integer("to_generation");
  request.settings = ops::changed(request.settings, settings_of(body));
  return request;
}

Response plan(Context& context, const Call& call) {
  if (auto refusal = refuse_media(call)) return *std::move(refusal);
  const auto body = body_of(call, plan_parameters());
  if (!body) return problem(body.error());
  const auto request = request_of(context.store, *body);
  if (!request) return problem(request.error());
  const store::Actor actor = actor_of(call, body->text("reason").value_or(""));
  if (body->flag("dry_run")) {
    const auto forecast = ops::forecast_bulk(context.store, *request, actor, context.entropy);
    return forecast ? json_response(200, ops::to_json(*forecast, request->kind)) : problem(forecast.error());
  }
  const auto planned = ops::plan_bulk(context.store, *request, actor, context.entropy);
  if (!planned) return problem(planned.error());
  return json_response(planned->operation.progress.counts.total > 0 ? 201 : 200, ops::to_json(*planned));
}

Result<std::string> start(Context& context, const Call& call) {
  SLUICE_TRY(const auto id, ops::whole_operation_id(context.store, call.path.at("id"), "id"));
  std::vector<Parameter> parameters = pace();
  parameters.push_back({"count", Type::integer, true, "how many events the plan holds, as a confirmation", 0});
  parameters.push_back(reason_parameter());
  SLUICE_TRY(const auto body, body_of(call, parameters));
  SLUICE_TRY(const auto started,
             ops::start_operation(context.store, {id, *body.integer("count"), settings_of(body), std::nullopt},
                                  actor_of(call, *body.text("reason"))));
  if (context.wake) context.wake();
  return ops::to_json(started);
}

Result<std::string> list_operations(Context& context, const Call& call) {
  SLUICE_CHECK(check_query(call, {"limit"}));
  SLUICE_TRY(const auto limit, number_parameter(call, "limit", 50, 1, ops::kMaxPage));
  SLUICE_TRY(const auto found, ops::list_operations(context.store, limit));
  SLUICE_TRY(const auto now, ops::now(context.store));
  return ops::to_json(found, now);
}

Result<std::string> show_operation(Context& context, const Call& call) {
  SLUICE_TRY(const auto id, ops::whole_operation_id(context.store, call.path.at("id"), "id"));
  SLUICE_TRY(const auto found, ops::find_operation(context.store, id));
  SLUICE_TRY(const auto overlaps, ops::overlaps_of(context.store, found));
  SLUICE_TRY(const auto now, ops::now(context.store));
  return ops::to_json(found, overlaps, now);
}

Result<std::string> items(Context& context, const Call& call) {
  SLUICE_CHECK(check_query(call, {"limit", "after"}));
  SLUICE_TRY(const auto id, ops::whole_operation_id(context.store, call.path.at("id"), "id"));
  SLUICE_TRY(const auto limit, number_parameter(call, "limit", 100, 1, ops::kMaxPage));
  SLUICE_TRY(const auto after, number_parameter(call, "after", 0, 0, std::numeric_limits<int>::max()));
  SLUICE_TRY(const auto found, ops::list_items(context.store, id, limit, after));
  return ops::to_json(found);
}

Result<std::string> change(Context& context, const Call& call, store::OperationChange::What what) {
  SLUICE_TRY(const auto id, ops::whole_operation_id(context.store, call.path.at("id"), "id"));
  std::vector<Parameter> parameters{optional_reason()};
  const bool rate = what == store::OperationChange::What::rate;
  if (rate) parameters.push_back({"rate", Type::integer, true, "events per second; 0: no limit", kLeast, kMost});
  SLUICE_TRY(const auto body, body_of(call, parameters));
  const store::OperationChange wanted{what, rate ? static_cast<int>(*body.integer("rate")) : 0};
  SLUICE_TRY(const auto changed,
             ops::steer_operation(context.store, id, wanted, actor_of(call, body.text("reason").value_or(""))));
  if (context.wake) context.wake();
  const auto now = ops::now(context.store);
  return ops::to_json(changed, now ? std::optional{*now} : std::nullopt);
}

Route steering_route(Context& context, const std::string& verb, store::OperationChange::What what) {
  return changing_route(context, {"/v1/operations/{id}/" + verb},
                        [what](Context& at, const Call& call) { return change(at, call, what); });
}

}  // namespace

std::vector<Route> operation_routes(Context& context) {
  using What = store::OperationChange::What;
  return {{"POST",
           "/v1/plans",
           Role::operator_,
           kListBody,
           [&context](const Call& call) { return plan(context, call); },
           {}},
          changing_route(context, {"/v1/operations/{id}/start", Role::operator_, 202}, start),
          reading_route(context, "/v1/operations", list_operations),
          reading_route(context, "/v1/operations/{id}", show_operation),
          reading_route(context, "/v1/operations/{id}/items", items),
          steering_route(context, "pause", What::pause),
          steering_route(context, "resume", What::resume),
          steering_route(context, "cancel", What::cancel),
          steering_route(context, "rate", What::rate)};
}

}  // namespace sluice::http
