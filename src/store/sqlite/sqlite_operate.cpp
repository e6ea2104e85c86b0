#include <algorithm>
#include <array>

#include "core/json.hpp"
#include "core/try.hpp"
#include "store/sqlite/query_params.hpp"
#include "store/sqlite/sqlite_records.hpp"
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

struct Mark {
  std::int64_t place = 0;
  std::string state;
  std::int64_t cycle = 0;
};

struct NextItem {
  std::int64_t place = 0;
  Uuid event_id;
  std::int64_t cycle = 0;
  bool as_planned = false;
};

/// Writes the marks and adds them to the counts; with `paced_at` they are of events that are taken now.
Result<void> record(Connection& connection, const Uuid& id, const std::vector<Mark>& marks,
                    std::optional<Timestamp> paced_at) {
  OperationCounts more;
  for (const Mark& mark : marks) {
    more.delivered += mark.state == "delivered" ? 1 : 0;
    more.failed_again += mark.state == "failed_again" ? 1 : 0;
    more.skipped += mark.state == "skipped" ? 1 : 0;
    more.changed += mark.state == "changed" ? 1 : 0;
    SLUICE_CHECK(connection.run(sql::operation_mark_item,
                                {{":state", mark.state}, {":cycle", mark.cycle}, {":id", id}, {":place", mark.place}}));
  }
  if (paced_at) more.taken = static_cast<std::int64_t>(marks.size());
  SLUICE_CHECK(connection.run(sql::operation_count, {{":taken", more.taken},
                                                     {":delivered", more.delivered},
                                                     {":failed_again", more.failed_again},
                                                     {":skipped", more.skipped},
                                                     {":changed", more.changed},
                                                     {":paced_at", paced_at},
                                                     {":id", id}}));
  return {};
}

Result<std::vector<Mark>> outcomes(Connection& connection, const Uuid& id) {
  std::vector<Mark> marks;
  SLUICE_CHECK(connection.each(sql::operation_outcomes, {{":id", id}}, [&](Row& row) {
    Mark& mark = marks.emplace_back();
    mark.place = row.integer();
    mark.cycle = row.integer();
    mark.state = row.text();
  }));
  return marks;
}

Result<OperationRecord> count_outcomes(Connection& connection, const Uuid& id) {
  SLUICE_TRY(auto marks, outcomes(connection, id));
  SLUICE_CHECK(record(connection, id, marks, std::nullopt));
  return find_operation(connection, id);
}

Result<std::vector<NextItem>> next_items(Connection& connection, const OperationRecord& operation, int limit) {
  std::vector<NextItem> items;
  SLUICE_CHECK(connection.each(sql::operation_next_items,
                               {{":discarded", takes_discarded(operation.progress.kind)},
                                {":id", operation.id},
                                {":taken", operation.progress.counts.taken},
                                {":limit", limit}},
                               [&](Row& row) {
                                 NextItem& item = items.emplace_back();
                                 item.place = row.integer();
                                 item.event_id = row.uuid();
                                 item.cycle = row.integer();
                                 item.as_planned = row.boolean();
                               }));
  return items;
}

Result<std::int64_t> change(Connection& connection, const OperationRecord& operation, const Uuid& event_id,
                            Timestamp now) {
  switch (operation.progress.kind) {
    case OperationKind::replay:
      return connection.run(sql::replay, {{":new_generation", operation.to_generation},
                                          {":now", now},
                                          {":replayed_by", given(operation.actor.name)},
                                          {":reason", given(operation.actor.reason)},
                                          {":operation_id", operation.id},
                                          {":id", event_id},
                                          {":from", name(Status::failed)}});
    case OperationKind::discard:
      return connection.run(sql::discard, {{":now", now}, {":id", event_id}});
    case OperationKind::restore:
      break;
  }
  return connection.run(sql::restore, {{":now", now}, {":generation", std::nullopt}, {":id", event_id}});
}

Result<bool> goes_nowhere(Connection& connection, const OperationRecord& operation) {
  if (!operation.to_generation) return false;
  return is_retired(connection, *operation.to_generation);
}

// What is left of a replay into a generation that is retired now would wait there for ever.
Result<OperationRecord> stopped_if_retired(Connection& connection, OperationRecord operation, Timestamp now) {
  const OperationProgress& progress = operation.progress;
  if (progress.state != OperationState::running || progress.counts.remaining() == 0) return operation;
  SLUICE_TRY(const bool nowhere, goes_nowhere(connection, operation));
  if (!nowhere) return operation;
  operation.progress.state = OperationState::stopped;
  operation.note = "generation " + std::to_string(*operation.to_generation) + " is retired: plan the rest again";
  operation.ended_at = now;
  SLUICE_CHECK(save(connection, operation));
  return operation;
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
        connection.each(sql::operation_items, {{":id", id}, {":after", after}, {":limit", limit}}, [&](Row& row) {
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

Result<OperationRecord> SqliteStore::hold_operation(const Uuid& id, const std::string& executor, Duration lease) {
  return database_->write([&](Connection& connection) -> Result<OperationRecord> {
    auto operation = find_operation(connection, id);
    if (!operation) return operation;
    const OperationState state = operation->progress.state;
    if (state == OperationState::planned) return operation;
    // Its events come to their end also when it has come to its own: it is counted then, and taken by nobody.
    if (is_over(state)) return count_outcomes(connection, id);
    const Timestamp now = clock_();
    SLUICE_TRY(auto taken,
               connection.run(sql::operation_hold,
                              {{":executor", executor}, {":lease_until", now + lease}, {":id", id}, {":now", now}}));
    if (taken == 0) {
      return Error{ErrorCode::conflict,
                   Retry::safe,
                   "operation " + id.to_string() + " is being carried out by " + operation->executor,
                   "operation_id",
                   {}};
    }
    SLUICE_TRY(auto counted, count_outcomes(connection, id));
    return stopped_if_retired(connection, std::move(counted), now);
  });
}

Result<OperationRecord> SqliteStore::advance_operation(const Uuid& id, const std::string& executor, int limit,
                                                       Timestamp paced_at) {
  bool replayed = false;
  auto advanced = database_->write([&](Connection& connection) -> Result<OperationRecord> {
    const Timestamp now = clock_();
    auto operation = held_operation(connection, id, executor, now);
    if (!operation || limit < 1) return operation;
    SLUICE_TRY(const bool nowhere, goes_nowhere(connection, *operation));
    if (nowhere) return retired_generation(*operation->to_generation);
    const bool replays = operation->progress.kind == OperationKind::replay;
    SLUICE_TRY(auto items, next_items(connection, *operation, limit));
    std::vector<Mark> marks;
    marks.reserve(items.size());
    for (const NextItem& item : items) {
      if (!item.as_planned) {
        marks.push_back({item.place, "skipped", item.cycle});
        continue;
      }
      SLUICE_CHECK(change(connection, *operation, item.event_id, now));
      replayed = replayed || replays;
      marks.push_back({item.place, replays ? "in_flight" : "changed", replays ? item.cycle + 1 : item.cycle});
    }
    SLUICE_CHECK(record(connection, id, marks, paced_at));
    return find_operation(connection, id);
  });
  if (advanced && replayed) bell_->notify();
  return advanced;
}

}  // namespace sluice::store::sqlite
