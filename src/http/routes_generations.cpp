// /v1/generations: deployment generations, from allocation to the retire gate.
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "http/reading.hpp"
#include "http/routes.hpp"
#include "ops/generations.hpp"
#include "ops/generations_retire.hpp"

namespace sluice::http {
namespace {

using Type = ops::Parameter::Type;
constexpr int kRerouteBatch = 500;

// Also those that events carry although nobody allocated them: they are what an operator looks for.
Result<std::string> list_generations(Context& context, const Call&) {
  SLUICE_TRY(const auto survey, ops::survey_generations(context.store));
  std::vector<std::string> texts;
  for (const auto& deployment : survey.deployments) {
    texts.push_back(ops::to_json(deployment, survey.of(deployment.generation)));
  }
  for (const auto& status : survey.generations) {
    if (!status.state) texts.push_back(ops::to_json(status));
  }
  return JsonObject{}.array("generations", texts).str();
}

Result<std::string> allocate(Context& context, const Call& call) {
  SLUICE_TRY(const auto body,
             body_of(call, {{"generation", Type::integer, false, "the number; default: the next free one"},
                            {"note", Type::any_text, false, "what it is for"},
                            optional_reason()}));
  SLUICE_TRY(const auto allocated,
             ops::allocate_generation(context.store, body.integer("generation"), body.text("note").value_or(""),
                                      actor_of(call, body.text("reason").value_or(""))));
  return ops::to_json(allocated);
}

Result<std::string> move(Context& context, const Call& call, GenerationState to) {
  SLUICE_TRY(const auto generation, generation_of(call));
  SLUICE_TRY(const auto body, body_of(call, {optional_reason()}));
  SLUICE_TRY(const auto moved,
             ops::move_generation(context.store, generation, to, actor_of(call, body.text("reason").value_or(""))));
  return ops::to_json(moved.deployment);
}

Result<std::string> activate(Context& context, const Call& call) { return move(context, call, GenerationState::live); }
Result<std::string> drain(Context& context, const Call& call) { return move(context, call, GenerationState::draining); }

Result<std::string> retire(Context& context, const Call& call) {
  SLUICE_TRY(const auto generation, generation_of(call));
  SLUICE_TRY(
      const auto body,
      body_of(call, {optional_reason(), {"force", Type::boolean, false, "leave behind what is pending or in flight"}}));
  SLUICE_TRY(const auto retired, ops::retire_generation(context.store, generation, body.flag("force"),
                                                        actor_of(call, body.text("reason").value_or(""))));
  return ops::to_json(retired);
}

Result<std::string> retire_check(Context& context, const Call& call) {
  SLUICE_TRY(const auto generation, generation_of(call));
  SLUICE_TRY(const auto check, ops::check_retire(context.store, generation));
  return ops::to_json(check);
}

Result<std::string> reroute(Context& context, const Call& call) {
  SLUICE_TRY(const auto from, generation_of(call));
  SLUICE_TRY(const auto body, body_of(call, {{"to", Type::integer, true, "the generation that gets the events", 1},
                                             reason_parameter(),
                                             {"dry_run", Type::boolean, false, "only say how many would move"}}));
  SLUICE_TRY(const auto plan, ops::plan_reroute(context.store, from, *body.integer("to")));
  if (body.flag("dry_run")) return ops::to_json(plan, {}, true);
  const auto report = ops::reroute(context.store, plan, kRerouteBatch, actor_of(call, *body.text("reason")),
                                   [](std::int64_t) { return true; });
  if (report.failed && report.moved == 0) return *report.failed;
  return ops::to_json(plan, report, false);
}

}  // namespace

std::vector<Route> generation_routes(Context& context) {
  return {reading_route(context, "/v1/generations", list_generations),
          changing_route(context, {"/v1/generations", Role::admin, 201}, allocate),
          changing_route(context, {"/v1/generations/{generation}/activate", Role::admin}, activate),
          changing_route(context, {"/v1/generations/{generation}/drain", Role::admin}, drain),
          changing_route(context, {"/v1/generations/{generation}/retire", Role::admin}, retire),
          reading_route(context, "/v1/generations/{generation}/retire-check", retire_check),
          changing_route(context, {"/v1/generations/{generation}/reroute", Role::admin}, reroute)};
}

}  // namespace sluice::http
