#include "core/json.hpp"
#include "core/try.hpp"
#include "store/sqlite/query_params.hpp"
#include "store/sqlite/sqlite_records.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

// Somebody who comes back to an expired plan is told that it has expired, not that there never was one.
constexpr Duration kPlansRemembered = std::chrono::hours{24};
constexpr Duration kOperationsRemembered = std::chrono::days{60};

Result<void> check(const PlanRequest& request) {
  if (request.kind != OperationKind::replay) return {};
  if (!request.to_generation) return invalid("to_generation", "name the generation that the events are replayed to");
  if (*request.to_generation < kFirstGeneration) {
    return invalid("to_generation", "the generation must be at least 1");
  }
  return {};
}

Result<void> forget_expired(Connection& connection, Timestamp now) {
  for (const sql::Query& query : {sql::plan_forget_items, sql::plan_forget}) {
    SLUICE_CHECK(connection.run(
        query, {{":expired_before", now - kPlansRemembered}, {":ended_before", now - kOperationsRemembered}}));
  }
  return {};
}

/// How many events it is.
Result<std::int64_t> freeze(Connection& connection, const PlanRequest& request, std::int64_t limit) {
  const bool discarded = takes_discarded(request.kind);
  if (!request.event_ids.empty()) {
    std::vector<std::string> names;
    names.reserve(request.event_ids.size());
    for (const Uuid& id : request.event_ids) names.push_back(id.to_string());
    return connection.run(sql::plan_events, {{":operation_id", request.id},
                                             {":event_ids", json_list(names)},
                                             {":discarded", discarded},
                                             {":limit", limit}});
  }
  auto params = joined(group_params(request.filter), {{":operation_id", request.id}});
  return connection.run(discarded ? sql::plan_discarded : sql::plan_dead,
                        joined(std::move(params), dead_params(request.filter), {{":limit", limit}}));
}

Result<std::int64_t> count_moved(Connection& connection, const OperationRecord& operation) {
  SLUICE_TRY(auto moved,
             connection.first(sql::plan_moved,
                              {{":id", operation.id}, {":discarded", takes_discarded(operation.progress.kind)}},
                              [](Row& row) { return row.integer(); }));
  return moved.value_or(0);
}

Error plan_again(const OperationRecord& operation, const std::string& why) {
  return Error{ErrorCode::conflict,
               Retry::never,
               "operation " + operation.id.to_string() + " " + why + ": plan it again",
               "operation_id",
               {}};
}

std::string detail_of(const OperationRecord& operation, const OperationSettings& settings) {
  return "{\"operation_id\":" + json::quote(operation.id.to_string()) + ",\"filter\":" + json::quote(operation.filter) +
         ",\"to_generation\":" + (operation.to_generation ? std::to_string(*operation.to_generation) : "null") +
         ",\"rate\":" + std::to_string(settings.rate) + ",\"canary\":" + std::to_string(settings.canary) +
         ",\"stop_percent\":" + std::to_string(settings.stop_percent) + "}";
}

Result<void> may_start(Connection& connection, const OperationRecord& operation, std::int64_t confirmed,
                       Timestamp now) {
  const std::int64_t total = operation.progress.counts.total;
  if (operation.progress.state != OperationState::planned) {
    return wrong_state(operation, "only a planned one can be started");
  }
  if (operation.expires_at <= now) return plan_again(operation, "has expired");
  if (confirmed != total) {
    return invalid("count", "the plan has " + std::to_string(total) + " events, not " + std::to_string(confirmed) +
                                ": confirm the number that the plan shows");
  }
  auto moved = count_moved(connection, operation);
  if (!moved) return std::move(moved).error();
  if (*moved > 0) {
    return plan_again(operation, "cannot start because " + std::to_string(*moved) + " of " + std::to_string(total) +
                                     " events moved since it was planned");
  }
  return {};
}

}  // namespace

Result<OperationRecord> SqliteStore::plan_operation(const PlanRequest& request) {
  SLUICE_CHECK(check(request));
  return database_->write([&](Connection& connection) -> Result<OperationRecord> {
    OperationRecord plan;
    plan.id = request.id;
    plan.progress.kind = request.kind;
    plan.progress.settings = request.settings;
    plan.filter = request.filter_text;
    plan.to_generation = request.to_generation;
    plan.actor = request.actor;
    plan.planned_at = clock_();
    plan.expires_at = plan.planned_at + request.valid_for;
    SLUICE_CHECK(forget_expired(connection, plan.planned_at));
    // One more than allowed tells whether there are too many; a negative limit is none.
    auto total = freeze(connection, request, request.most > 0 ? request.most + 1 : -1);
    if (!total) return std::move(total).error();
    if (request.most > 0 && *total > request.most) {
      return invalid("filter", "the filter matches more than " + std::to_string(request.most) + " events: narrow it");
    }
    plan.progress.counts.total = *total;
    if (*total == 0) return plan;
    SLUICE_CHECK(connection.run(sql::plan_record, {{":id", plan.id},
                                                   {":kind", name(request.kind)},
                                                   {":filter", plan.filter},
                                                   {":to_generation", plan.to_generation},
                                                   {":rate", request.settings.rate},
                                                   {":canary", request.settings.canary},
                                                   {":stop_percent", request.settings.stop_percent},
                                                   {":total", *total},
                                                   {":actor", plan.actor.name},
                                                   {":surface", plan.actor.surface},
                                                   {":reason", plan.actor.reason},
                                                   {":now", plan.planned_at},
                                                   {":expires_at", plan.expires_at}}));
    return plan;
  });
}

Result<OperationRecord> SqliteStore::start_operation(const Uuid& id, std::int64_t confirmed,
                                                     const OperationSettings& settings, const Actor& actor) {
  SLUICE_CHECK(need_reason(actor, "start an operation"));
  return database_->write([&](Connection& connection) -> Result<OperationRecord> {
    auto operation = find_operation(connection, id);
    if (!operation) return operation;
    const Timestamp now = clock_();
    SLUICE_CHECK(may_start(connection, *operation, confirmed, now));
    SLUICE_CHECK(connection.run(sql::operation_start, {{":rate", settings.rate},
                                                       {":canary", settings.canary},
                                                       {":stop_percent", settings.stop_percent},
                                                       {":actor", actor.name},
                                                       {":surface", actor.surface},
                                                       {":reason", actor.reason},
                                                       {":now", now},
                                                       {":id", id}}));
    const std::string action = std::string{name(operation->progress.kind)} + ".bulk";
    SLUICE_CHECK(
        record_audit(connection, actor,
                     {now, action, std::nullopt, detail_of(*operation, settings), operation->progress.counts.total}));
    return find_operation(connection, id);
  });
}

}  // namespace sluice::store::sqlite
