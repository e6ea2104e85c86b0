#include "core/try.hpp"
#include "store/postgres/postgres_records.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

OperationRecord operation_record(const pq::Rows& rows, int row) {
  int column = 0;
  const auto next = [&column] { return column++; };
  OperationRecord record;
  record.id = rows.uuid(row, next());
  record.progress.kind = parse_operation_kind(rows.text(row, next())).value();
  record.progress.state = parse_operation_state(rows.text(row, next())).value();
  record.filter = rows.text(row, next());
  if (const int generation = next(); !rows.is_null(row, generation)) record.to_generation = rows.int8(row, generation);
  record.progress.settings.rate = rows.int4(row, next());
  record.progress.settings.canary = rows.int4(row, next());
  record.progress.settings.stop_percent = rows.int4(row, next());
  OperationCounts& counts = record.progress.counts;
  for (std::int64_t* count :
       {&counts.total, &counts.taken, &counts.delivered, &counts.failed_again, &counts.skipped, &counts.changed})
    *count = rows.int8(row, next());
  record.progress.paced_at = rows.optional_timestamptz(row, next());
  record.actor.name = rows.text(row, next());
  record.actor.surface = rows.text(row, next());
  record.actor.reason = rows.text(row, next());
  record.note = rows.text(row, next());
  record.executor = rows.text(row, next());
  record.planned_at = rows.timestamptz(row, next());
  record.expires_at = rows.timestamptz(row, next());
  record.started_at = rows.optional_timestamptz(row, next());
  record.ended_at = rows.optional_timestamptz(row, next());
  return record;
}

Result<OperationRecord> one_operation(const Result<pq::Rows>& rows) {
  if (!rows) return rows.error();
  return operation_record(*rows, 0);
}

std::string_view name(OperationChange::What what) {
  switch (what) {
    case OperationChange::What::pause:
      return "pause";
    case OperationChange::What::resume:
      return "resume";
    case OperationChange::What::cancel:
      return "cancel";
    case OperationChange::What::rate:
      return "rate";
  }
  return {};
}

pq::Params& add(pq::Params& params, const OperationSettings& settings) {
  return params.int4(settings.rate).int4(settings.canary).int4(settings.stop_percent);
}

}  // namespace

Result<OperationRecord> PostgresStore::plan_operation(const PlanRequest& request) {
  pq::Params params;
  params.uuid(request.id).text(sluice::name(request.kind)).jsonb(filter_json(request.filter));
  if (request.event_ids.empty()) {
    params.null();
  } else {
    pq::Params::Array ids = params.array(pq::Params::Element::uuid);
    for (const Uuid& id : request.event_ids) ids.uuid(id);
  }
  params.text(std::string_view{request.filter_text}).int8(request.to_generation);
  add(params, request.settings).interval(request.valid_for).int8(request.most);
  return one_operation(run(writing(pg_sql::operation_plan), add(params, request.actor)));
}

Result<OperationRecord> PostgresStore::operation(const Uuid& id) {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::operation_get), pq::Params{}.uuid(id)));
  if (rows.empty())
    return Error{ErrorCode::not_found, Retry::never, "operation " + id.to_string() + " does not exist", "id", {}};
  return operation_record(rows, 0);
}

Result<std::vector<OperationRecord>> PostgresStore::operations(int limit) {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::operation_list), pq::Params{}.int4(limit)));
  return pq::collect(rows, [&](int row) { return operation_record(rows, row); });
}

Result<std::vector<OperationItem>> PostgresStore::operation_items(const Uuid& id, int limit, std::int64_t after) {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::operation_items), pq::Params{}.uuid(id).int4(limit).int8(after)));
  return pq::collect(rows, [&](int row) {
    return OperationItem{rows.int8(row, 0), rows.uuid(row, 1), std::string{rows.text(row, 2)}};
  });
}

Result<OperationRecord> PostgresStore::start_operation(const Uuid& id, std::int64_t confirmed,
                                                       const OperationSettings& settings, const Actor& actor) {
  pq::Params params;
  params.uuid(id).int8(confirmed);
  add(params, settings);
  return one_operation(run(writing(pg_sql::operation_start), add(params, actor)));
}

Result<OperationRecord> PostgresStore::change_operation(const Uuid& id, const OperationChange& change,
                                                        const Actor& actor) {
  pq::Params params;
  params.uuid(id).text(name(change.what)).int4(change.rate);
  return one_operation(run(writing(pg_sql::operation_change), add(params, actor)));
}

Result<std::vector<Uuid>> PostgresStore::runnable_operations(const std::string& executor) {
  SLUICE_TRY(const pq::Rows rows,
             run(reading(pg_sql::operation_runnable), pq::Params{}.text(std::string_view{executor})));
  return pq::collect(rows, [&](int row) { return rows.uuid(row, 0); });
}

Result<OperationRecord> PostgresStore::hold_operation(const Uuid& id, const std::string& executor, Duration lease) {
  return one_operation(
      run(writing(pg_sql::operation_hold), pq::Params{}.uuid(id).text(std::string_view{executor}).interval(lease)));
}

Result<OperationRecord> PostgresStore::advance_operation(const Uuid& id, const std::string& executor, int limit,
                                                         Timestamp paced_at) {
  return one_operation(run(writing(pg_sql::operation_advance),
                           pq::Params{}.uuid(id).text(std::string_view{executor}).int4(limit).timestamptz(paced_at)));
}

Result<OperationRecord> PostgresStore::end_operation(const Uuid& id, const std::string& executor, OperationState to,
                                                     const std::string& note) {
  return one_operation(
      run(writing(pg_sql::operation_end),
          pq::Params{}.uuid(id).text(std::string_view{executor}).text(sluice::name(to)).text(std::string_view{note})));
}

Result<void> PostgresStore::release_operation(const Uuid& id, const std::string& executor) {
  SLUICE_CHECK(run(writing(pg_sql::operation_release), pq::Params{}.uuid(id).text(std::string_view{executor})));
  return {};
}

Result<std::vector<AuditRecord>> PostgresStore::audit(const AuditFilter& filter, int limit,
                                                      std::optional<std::int64_t> before_id) {
  const std::string_view action = filter.action;
  const bool prefix = action.ends_with('*');
  pq::Params params;
  params.int8(before_id).text_or_null(filter.actor).text_or_null(filter.surface);
  params.text_or_null(prefix ? std::string_view{} : action)
      .text_or_null(prefix ? action.substr(0, action.size() - 1) : std::string_view{});
  params.uuid(filter.event_id).timestamptz(filter.since).timestamptz(filter.until).int4(limit);
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::audit_list), params));
  return pq::collect(rows, [&](int row) { return audit_record(rows, row); });
}

}  // namespace sluice::store
