#include "store/sqlite/operation_rows.hpp"

#include "core/try.hpp"

namespace sluice::store::sqlite {
namespace {

template <class Value>
Value known(Row& row, const std::optional<Value>& parsed, std::string_view text) {
  if (!parsed) row.damaged("'" + std::string{text} + "' is unknown");
  return parsed.value_or(Value{});
}

OperationSettings read_settings(Row& row) {
  OperationSettings settings;
  settings.rate = static_cast<int>(row.integer());
  settings.canary = static_cast<int>(row.integer());
  settings.stop_percent = static_cast<int>(row.integer());
  return settings;
}

OperationCounts read_counts(Row& row) {
  OperationCounts counts;
  counts.total = row.integer();
  counts.taken = row.integer();
  counts.delivered = row.integer();
  counts.failed_again = row.integer();
  counts.skipped = row.integer();
  counts.changed = row.integer();
  return counts;
}

}  // namespace

OperationRecord read_operation(Row& row) {
  OperationRecord operation;
  operation.id = row.uuid();
  const std::string_view kind = row.view();
  operation.progress.kind = known(row, parse_operation_kind(kind), kind);
  const std::string_view state = row.view();
  operation.progress.state = known(row, parse_operation_state(state), state);
  operation.filter = row.text();
  operation.to_generation = row.optional_integer();
  operation.progress.settings = read_settings(row);
  operation.progress.counts = read_counts(row);
  operation.progress.paced_at = row.optional_timestamp();
  operation.actor.name = row.text();
  operation.actor.surface = row.text();
  operation.actor.reason = row.text();
  operation.note = row.text();
  operation.executor = row.text();
  operation.planned_at = row.timestamp();
  operation.expires_at = row.timestamp();
  operation.started_at = row.optional_timestamp();
  operation.ended_at = row.optional_timestamp();
  return operation;
}

Result<OperationRecord> find_operation(Connection& connection, const Uuid& id) {
  SLUICE_TRY(auto found, connection.first(sql::operation_get, {{":id", id}}, read_operation));
  if (!found) {
    return Error{ErrorCode::not_found, Retry::never, "there is no operation " + id.to_string(), "operation_id", {}};
  }
  return *std::move(found);
}

Error wrong_state(const OperationRecord& operation, std::string_view rule) {
  return Error{ErrorCode::conflict,
               Retry::never,
               "operation " + operation.id.to_string() + " is " + std::string{name(operation.progress.state)} + ": " +
                   std::string{rule},
               "operation_id",
               {}};
}

Result<OperationRecord> held_operation(Connection& connection, const Uuid& id, const std::string& executor,
                                       Timestamp now) {
  auto operation = find_operation(connection, id);
  if (!operation) return operation;
  if (operation->progress.state != OperationState::running) {
    return wrong_state(*operation, "only a running one can be carried out");
  }
  SLUICE_TRY(auto holds, connection.first(sql::operation_holds, {{":id", id}, {":executor", executor}, {":now", now}},
                                          [](Row& row) { return row.integer(); }));
  if (!holds) {
    return Error{ErrorCode::conflict, Retry::never, "operation " + id.to_string() + " is not held by " + executor,
                 "operation_id", "hold it first"};
  }
  return operation;
}

bool takes_discarded(OperationKind kind) { return kind == OperationKind::restore; }

}  // namespace sluice::store::sqlite
