#include "ops/status_report.hpp"

#include <map>
#include <utility>

#include "ops/json_object.hpp"

namespace sluice::ops {
namespace {

void add(GenerationStatus& row, const store::StatusCount& count) {
  switch (count.status) {
    case Status::pending:
      row.pending = count.count;
      row.waiting = count.waiting;
      row.oldest_pending = count.oldest;
      break;
    case Status::in_flight:
      row.in_flight = count.count;
      break;
    case Status::delivered:
      row.delivered = count.count;
      break;
    case Status::failed:
      row.failed = count.count;
      break;
  }
}

std::string to_json(const GenerationStatus& row) {
  const std::optional<std::string> state = row.state ? std::optional{std::string{name(*row.state)}} : std::nullopt;
  return JsonObject{}
      .number("generation", row.generation)
      .text("state", state)
      .number("pending", row.pending)
      .number("waiting", row.waiting)
      .number("in_flight", row.in_flight)
      .number("delivered", row.delivered)
      .number("failed", row.failed)
      .time("oldest_pending_at", row.oldest_pending)
      .str();
}

}  // namespace

Result<StatusReport> report_status(store::Store& store) {
  const auto status = store.status();
  if (!status) return status.error();
  const auto deployments = store.deployments();
  if (!deployments) return deployments.error();
  const auto schema = store.schema_version();
  if (!schema) return schema.error();
  const auto generation = store.default_generation();
  if (!generation) return generation.error();

  std::map<Generation, GenerationStatus> rows;
  for (const auto& count : status->counts) add(rows[count.generation], count);
  for (const auto& deployment : *deployments) rows[deployment.generation].state = deployment.state;

  StatusReport report{store.display_name(), *schema, status->now, *generation, {}, status->discarded};
  for (auto& [number, row] : rows) {
    row.generation = number;
    report.generations.push_back(row);
  }
  return report;
}

std::string to_json(const StatusReport& report) {
  std::vector<std::string> rows;
  for (const auto& row : report.generations) rows.push_back(to_json(row));
  return JsonObject{}
      .text("store", report.store)
      .raw("schema", JsonObject{}.number("applied", report.schema.applied).number("known", report.schema.known).str())
      .time("now", report.now)
      .number("default_generation", report.default_generation)
      .array("generations", rows)
      .number("discarded", report.discarded)
      .str();
}

}  // namespace sluice::ops
