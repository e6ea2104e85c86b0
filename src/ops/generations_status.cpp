#include "ops/generations_status.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/json_object.hpp"
#include "ops/generations.hpp"
#include "ops/workers.hpp"

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

Result<GenerationSurvey> survey_generations(store::Store& store) {
  const auto status = store.status();
  if (!status) return status.error();
  auto deployments = store.deployments();
  if (!deployments) return std::move(deployments).error();
  auto workers = store.workers(kAliveWithin);
  if (!workers) return std::move(workers).error();

  std::map<Generation, GenerationStatus> rows;
  for (const auto& count : status->counts) add(rows[count.generation], count);
  for (const auto& deployment : *deployments) rows[deployment.generation].state = deployment.state;
  for (const auto& worker : *workers) ++rows[worker.generation].workers;

  GenerationSurvey survey{
      status->now, {}, *std::move(deployments), *std::move(workers), status->discarded, status->discarded_estimated};
  for (auto& [number, row] : rows) {
    row.generation = number;
    survey.generations.push_back(row);
  }
  return survey;
}

}  // namespace sluice::ops
