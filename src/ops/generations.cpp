#include "ops/generations.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/audit.hpp"
#include "ops/subscriptions.hpp"

namespace sluice::ops {
namespace {

void add(GenerationStatus& row, const store::StatusCount& count) {
  switch (count.status) {
    case Status::pending:
      row.pending = count.count;
      row.waiting = count.waiting;
      row.oldest_pending = count.oldest;
      row.pending_estimated = count.estimated;
      break;
    case Status::in_flight:
      row.in_flight = count.count;
      break;
    case Status::delivered:
      row.delivered = count.count;
      row.delivered_estimated = count.estimated;
      break;
    case Status::failed:
      row.failed = count.count;
      row.failed_estimated = count.estimated;
      break;
  }
}

bool is_leaving(const GenerationStatus& status) {
  return status.state == GenerationState::draining || status.state == GenerationState::retired;
}

const store::Deployment* find(const std::vector<store::Deployment>& all, Generation generation) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.generation == generation; });
  return found == all.end() ? nullptr : &*found;
}

Error refuse(ErrorCode code, std::string message, std::string hint) {
  return {code, Retry::never, std::move(message), "generation", std::move(hint)};
}

}  // namespace

std::string count_text(std::int64_t count, bool estimated) {
  return (estimated ? "about " : "") + std::to_string(count);
}

std::vector<std::string> estimates(const GenerationStatus& status) {
  std::vector<std::string> names;
  if (status.pending_estimated) names.emplace_back("pending");
  if (status.delivered_estimated) names.emplace_back("delivered");
  if (status.failed_estimated) names.emplace_back("failed");
  return names;
}

std::string in_words(const GenerationStatus& status) {
  std::string words{status.state ? name(*status.state) : "no deployment"};
  // A live generation always has events; how many is news only when nobody takes them.
  if (status.abandoned() || (is_leaving(status) && status.left() > 0)) {
    words += ", " + count_text(status.left(), status.pending_estimated) + " left";
  }
  if (status.abandoned()) words += ", NO WORKER";
  return words;
}

std::string to_json(const GenerationStatus& status) {
  const auto state = status.state ? std::optional{name(*status.state)} : std::nullopt;
  return JsonObject{}
      .number("generation", status.generation)
      .text("state", state)
      .number("pending", status.pending)
      .number("waiting", status.waiting)
      .number("in_flight", status.in_flight)
      .number("delivered", status.delivered)
      .number("failed", status.failed)
      .time("oldest_pending_at", status.oldest_pending)
      .number("workers", status.workers)
      .boolean("abandoned", status.abandoned())
      .texts("estimated", estimates(status))
      .str();
}

std::string to_json(const store::Deployment& deployment, const GenerationStatus& status) {
  return JsonObject{to_json(deployment)}
      .number("pending", status.pending)
      .number("in_flight", status.in_flight)
      .number("failed", status.failed)
      .number("workers", status.workers)
      .boolean("abandoned", status.abandoned())
      .texts("estimated", estimates(status))
      .str();
}

GenerationStatus GenerationSurvey::of(Generation generation) const {
  const auto found = std::find_if(generations.begin(), generations.end(),
                                  [&](const GenerationStatus& one) { return one.generation == generation; });
  if (found != generations.end()) return *found;
  GenerationStatus none;
  none.generation = generation;
  return none;
}

Result<GenerationSurvey> survey_generations(store::Administering& store) {
  SLUICE_TRY(const auto status, store.status());
  SLUICE_TRY(auto deployments, store.deployments());
  SLUICE_TRY(auto workers, store.workers(kAliveWithin));

  std::map<Generation, GenerationStatus> rows;
  for (const auto& count : status.counts) add(rows[count.generation], count);
  for (const auto& deployment : deployments) rows[deployment.generation].state = deployment.state;
  for (const auto& worker : workers) ++rows[worker.generation].workers;

  GenerationSurvey survey{
      status.now, {}, std::move(deployments), std::move(workers), status.discarded, status.discarded_estimated};
  for (auto& [number, row] : rows) {
    row.generation = number;
    survey.generations.push_back(row);
  }
  return survey;
}

Result<Generation> preview_allocation(store::Administering& store, std::optional<Generation> wanted) {
  SLUICE_TRY(const auto all, store.deployments());
  if (!wanted) return all.empty() ? kFirstGeneration : all.back().generation + 1;
  if (find(all, *wanted) != nullptr) {
    return refuse(ErrorCode::conflict, "generation " + std::to_string(*wanted) + " exists already",
                  "leave the number out to get the next free one");
  }
  return *wanted;
}

Result<store::Deployment> allocate_generation(store::Administering& store, std::optional<Generation> wanted,
                                              const std::string& note, const store::Actor& actor) {
  if (wanted && *wanted < kFirstGeneration) {
    return invalid("generation", "generation must be a whole number of at least 1");
  }
  if (note.size() > kMaxTextBytes) {
    return invalid("note", "note must be a text of at most " + std::to_string(kMaxTextBytes) + " bytes");
  }
  SLUICE_CHECK(check_optional_reason(actor.reason));
  return store.allocate_generation(wanted, note, actor);
}

Result<Generation> default_generation(store::Administering& store) { return store.default_generation(); }

Result<bool> is_allocated(store::Administering& store, Generation generation) {
  if (generation == kFirstGeneration) return true;
  SLUICE_TRY(const auto all, store.deployments());
  return find(all, generation) != nullptr;
}

Result<bool> is_retired(store::Administering& store, Generation generation) {
  SLUICE_TRY(const auto all, store.deployments());
  const store::Deployment* deployment = find(all, generation);
  return deployment != nullptr && deployment->state == GenerationState::retired;
}

Result<store::Deployment> preview_move(store::Administering& store, Generation generation, GenerationState to) {
  SLUICE_TRY(const auto all, store.deployments());
  const store::Deployment* deployment = find(all, generation);
  const std::string title = "generation " + std::to_string(generation);
  if (deployment == nullptr) return unknown_generation(generation);
  if (deployment->state != to && !is_legal(deployment->state, to)) {
    return refuse(ErrorCode::conflict,
                  title + " is " + std::string{name(deployment->state)} + " and cannot become " + std::string{name(to)},
                  "`sluice generation list` shows the states");
  }
  return *deployment;
}

Result<MovedGeneration> move_generation(store::Administering& store, Generation generation, GenerationState to,
                                        const store::Actor& actor) {
  SLUICE_CHECK(check_optional_reason(actor.reason));
  auto moved = store.move_generation(generation, to, actor);
  if (moved) return MovedGeneration{*std::move(moved), true};
  if (moved.error().code != ErrorCode::conflict) return std::move(moved).error();
  // Asked for afterwards: between reading it and the change somebody else may have done it.
  SLUICE_TRY(const auto all, store.deployments());
  const store::Deployment* deployment = find(all, generation);
  if (deployment == nullptr || deployment->state != to) return std::move(moved).error();
  return MovedGeneration{*deployment, false};
}

Error unknown_generation(Generation generation) {
  return refuse(ErrorCode::not_found, "generation " + std::to_string(generation) + " does not exist",
                "`sluice generation list` shows what there is");
}

std::string to_json(const store::Deployment& deployment) {
  return JsonObject{}
      .number("generation", deployment.generation)
      .text("state", name(deployment.state))
      .text("note", deployment.note)
      .text("changed_by", deployment.changed_by)
      .time("allocated_at", deployment.allocated_at)
      .time("activated_at", deployment.activated_at)
      .time("draining_at", deployment.draining_at)
      .time("retired_at", deployment.retired_at)
      .str();
}

Result<ReroutePlan> plan_reroute(store::Administering& store, Generation from, Generation to) {
  if (from == to) return invalid("to", "the events are in generation " + std::to_string(to) + " already; name another");
  SLUICE_TRY(const auto survey, survey_generations(store));
  ReroutePlan plan{survey.of(from), survey.of(to)};
  if (survey.deployments.empty()) return plan;
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
