#include <algorithm>
#include <array>

#include "core/json.hpp"
#include "core/try.hpp"
#include "store/sqlite/operation_rows.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

/// One verb of change_operation: where it is allowed and where it leads.
struct Verb {
  std::string_view action;
  std::string_view rule;       ///< what is said where it is not allowed
  std::array<bool, 3> from{};  ///< planned, running, paused
  std::optional<OperationState> to;
};

Verb verb_of(OperationChange::What what) {
  switch (what) {
    case OperationChange::What::pause:
      return {"operation.pause", "only a running one can be paused", {false, true, false}, OperationState::paused};
    case OperationChange::What::resume:
      return {"operation.resume", "only a paused one can be resumed", {false, false, true}, OperationState::running};
    case OperationChange::What::cancel:
      return {"operation.cancel", "it is over and cannot be cancelled", {true, true, true}, OperationState::cancelled};
    case OperationChange::What::rate:
      break;
  }
  return {"operation.rate", "it is over and has no rate any more", {true, true, true}, std::nullopt};
}

bool allows(const Verb& verb, OperationState state) {
  constexpr std::array kStates{OperationState::planned, OperationState::running, OperationState::paused};
  const auto* found = std::find(kStates.begin(), kStates.end(), state);
  return found != kStates.end() && verb.from.at(static_cast<std::size_t>(found - kStates.begin()));
}

/// Writes what `operation` says about its state, rate, note and end.
Result<void> save(Connection& connection, const OperationRecord& operation) {
  SLUICE_CHECK(connection.run(sql::operation_change, {{":state", name(operation.progress.state)},
                                                      {":rate", operation.progress.settings.rate},
                                                      {":note", operation.note},
                                                      {":ended_at", operation.ended_at},
                                                      {":id", operation.id}}));
  return {};
}

}  // namespace

Result<OperationRecord> SqliteStore::operation(const Uuid& id) {
  return database_->read([&](Connection& connection) { return find_operation(connection, id); });
}

Result<std::vector<OperationRecord>> SqliteStore::operations(int limit) {
  std::vector<OperationRecord> records;
  if (limit < 1) return records;
  return database_->read([&](Connection& connection) -> Result<std::vector<OperationRecord>> {
    SLUICE_CHECK(connection.each(sql::operation_list, {{":now", clock_()}, {":limit", limit}},
                                 [&](Row& row) { records.push_back(read_operation(row)); }));
    return std::move(records);
  });
}

Result<std::vector<OperationItem>> SqliteStore::operation_items(const Uuid& id, int limit, std::int64_t after) {
  std::vector<OperationItem> items;
  if (limit < 1) return items;
  return database_->read([&](Connection& connection) -> Result<std::vector<OperationItem>> {
    SLUICE_CHECK(
        connection.each(sql::operation_items_list, {{":id", id}, {":after", after}, {":limit", limit}}, [&](Row& row) {
          OperationItem& item = items.emplace_back();
          item.place = row.integer();
          item.event_id = row.uuid();
          item.state = row.text();
        }));
    return std::move(items);
  });
}

Result<OperationRecord> SqliteStore::change_operation(const Uuid& id, const OperationChange& change,
                                                      const Actor& actor) {
  if (change.rate < 0)
    return invalid("rate", "the rate must not be negative; 0 means as fast as the deliveries keep up");
  return database_->write([&](Connection& connection) -> Result<OperationRecord> {
    auto operation = find_operation(connection, id);
    if (!operation) return operation;
    const Verb verb = verb_of(change.what);
    if (!allows(verb, operation->progress.state)) return wrong_state(*operation, verb.rule);
    const Timestamp now = clock_();
    if (verb.to) operation->progress.state = *verb.to;
    if (change.what == OperationChange::What::rate) operation->progress.settings.rate = change.rate;
    if (is_over(operation->progress.state)) operation->ended_at = now;
    SLUICE_CHECK(save(connection, *operation));
    std::string detail = "{\"operation_id\":" + json::quote(id.to_string());
    if (change.what == OperationChange::What::rate) detail += ",\"rate\":" + std::to_string(change.rate);
    detail += '}';
    SLUICE_CHECK(record_audit(connection, actor, {now, verb.action, std::nullopt, std::move(detail)}));
    return operation;
  });
}

Result<std::vector<Uuid>> SqliteStore::runnable_operations(const std::string& executor) {
  return database_->read([&](Connection& connection) -> Result<std::vector<Uuid>> {
    std::vector<Uuid> ids;
    SLUICE_CHECK(connection.each(sql::operation_runnable, {{":now", clock_()}, {":executor", executor}},
                                 [&](Row& row) { ids.push_back(row.uuid()); }));
    return ids;
  });
}

Result<OperationRecord> SqliteStore::end_operation(const Uuid& id, const std::string& executor, OperationState to,
                                                   const std::string& note) {
  if (to != OperationState::stopped && to != OperationState::finished) {
    return invalid("state", "an operation ends as stopped or finished, not as " + std::string{name(to)});
  }
  return database_->write([&](Connection& connection) -> Result<OperationRecord> {
    const Timestamp now = clock_();
    auto operation = held_operation(connection, id, executor, now);
    if (!operation) return operation;
    operation->progress.state = to;
    operation->note = note;
    operation->ended_at = now;
    SLUICE_CHECK(save(connection, *operation));
    return operation;
  });
}

Result<void> SqliteStore::release_operation(const Uuid& id, const std::string& executor) {
  return database_->write([&](Connection& connection) -> Result<void> {
    SLUICE_CHECK(connection.run(sql::operation_release, {{":id", id}, {":executor", executor}}));
    return {};
  });
}

}  // namespace sluice::store::sqlite
