#include "ops/generations_reroute.hpp"

#include <utility>

#include "core/json_object.hpp"
#include "ops/audit.hpp"
#include "ops/generations.hpp"

namespace sluice::ops {

Result<ReroutePlan> plan_reroute(store::Store& store, Generation from, Generation to) {
  if (from == to) return invalid("to", "the events are in generation " + std::to_string(to) + " already; name another");
  const auto survey = survey_generations(store);
  if (!survey) return survey.error();
  ReroutePlan plan{survey->of(from), survey->of(to)};
  if (survey->deployments.empty()) return plan;
  if (!plan.to.state) return unknown_generation(to);
  if (*plan.to.state != GenerationState::allocated && *plan.to.state != GenerationState::live) {
    return Error{ErrorCode::conflict, Retry::never,
                 "generation " + std::to_string(to) + " is " + std::string{name(*plan.to.state)} +
                     " and takes no events of another generation",
                 "to", "name one that is allocated or live"};
  }
  return plan;
}

RerouteReport reroute(store::Administering& store, const ReroutePlan& plan, int batch, const store::Actor& actor,
                      const RerouteProgress& go_on) {
  RerouteReport report;
  if (auto checked = check_reason(actor.reason); !checked) {
    report.failed = std::move(checked).error();
    return report;
  }
  for (;;) {
    auto moved = store.reroute(plan.from.generation, plan.to.generation, batch, actor);
    if (!moved) {
      report.failed = std::move(moved).error();
      return report;
    }
    if (*moved == 0) {
      report.complete = true;
      return report;
    }
    report.moved += *moved;
    if (!go_on(report.moved)) return report;
  }
}

std::string to_json(const ReroutePlan& plan, const RerouteReport& report, bool dry_run) {
  return JsonObject{}
      .boolean("dry_run", dry_run)
      .number("from_generation", plan.from.generation)
      .number("to_generation", plan.to.generation)
      .number("pending", plan.from.pending)
      .boolean("pending_estimated", plan.from.pending_estimated)
      .number("in_flight", plan.from.in_flight)
      .number("moved", report.moved)
      .boolean("complete", report.complete)
      .str();
}

}  // namespace sluice::ops
