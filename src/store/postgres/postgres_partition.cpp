// Monthly partitions: from one table to them, step by step, and what they need from then on.
#include "core/try.hpp"
#include "core/words.hpp"
#include "store/postgres/lock_holder.hpp"
#include "store/postgres/postgres_records.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

std::string holder_in_words(const pq::Rows& rows, int row) {
  std::string words = "pid " + std::to_string(rows.int4(row, 0));
  const std::string_view application = rows.text(row, 1);
  const std::string_view state = rows.text(row, 3);
  words += " (";
  if (!application.empty()) words += std::string{application} + ", ";
  words += "user " + std::string{rows.text(row, 2)};
  if (!state.empty()) words += ", " + std::string{state};
  if (!rows.is_null(row, 4)) {
    words += ", in a transaction for " + std::to_string(rows.int8(row, 4) / 1'000'000) + " s";
  }
  return words + ")";
}

Result<std::vector<std::string>> statements_of(pq::Connection& connection, const PartitionRequest& request) {
  pq::Params params;
  params.text(name(request.step)).timestamptz(request.boundary).int4(request.months);
  SLUICE_TRY(const pq::Rows rows, connection.run_unprepared(reading(pg_sql::partition_statements), params));
  return pq::collect(rows, [&](int row) { return std::string{rows.text(row, 0)}; });
}

/// Inside the transaction.
Result<void> take_step(pq::Connection& connection, const PartitionRequest& request, const Actor& actor) {
  if (request.step == PartitionStep::swap) {
    // Read under the lock: whatever changed the table before is part of it.
    SLUICE_CHECK(connection.script(pg_sql::partition_lock.text));
  }
  SLUICE_TRY(const std::vector<std::string> statements, statements_of(connection, request));
  SLUICE_CHECK(connection.script(joined(statements, ";\n")));
  pq::Params params;
  params.text(std::string_view{actor.name}).text(std::string_view{actor.surface}).text(std::string_view{actor.reason});
  params.text(name(request.step)).timestamptz(request.boundary);
  SLUICE_CHECK(connection.run_unprepared(writing(pg_sql::partition_audit), params));
  return {};
}

Result<void> in_transaction(pq::Connection& connection, const std::function<Result<void>()>& work) {
  SLUICE_CHECK(connection.script(pg_sql::partition_begin.text));
  Result<void> done = work();
  if (done) done = connection.commit();
  if (done) return {};
  static_cast<void>(connection.script("rollback").has_value());
  return name_holder(connection, std::move(done).error());
}

}  // namespace

Error name_holder(pq::Connection& connection, Error error) {
  if (error.code != ErrorCode::timeout) return error;
  const auto holders = connection.run_unprepared(reading(pg_sql::partition_blockers));
  error.message = "core.outbox is in use and could not be locked";
  error.hint = "wait until its transaction ends, or end it: select pg_terminate_backend(PID)";
  if (holders && !holders->empty()) error.message += ": " + holder_in_words(*holders, 0) + " holds it";
  return error;
}

PartitionLayout layout_of(const pq::Rows& state, const pq::Rows& partitions) {
  PartitionLayout layout{.partitioned = state.boolean(0, 0),
                         .partitions = {},
                         .boundary = state.optional_timestamptz(0, 1),
                         .validated = state.boolean(0, 2),
                         .prepared = state.boolean(0, 3)};
  layout.partitions = pq::collect(partitions, [&](int row) {
    return Partition{std::string{partitions.text(row, 0)},
                     partitions.optional_timestamptz(row, 1),
                     partitions.optional_timestamptz(row, 2),
                     partitions.boolean(row, 3),
                     partitions.int8(row, 4),
                     partitions.int8(row, 5),
                     std::string{partitions.text(row, 6)}};
  });
  return layout;
}

Result<PartitionLayout> PostgresStore::partition_layout() {
  SLUICE_TRY(const pq::Rows state, run(reading(pg_sql::partition_state)));
  SLUICE_TRY(const pq::Rows partitions, run(reading(pg_sql::partition_list)));
  return layout_of(state, partitions);
}

Result<std::vector<std::string>> PostgresStore::partition_obstacles() {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::partition_obstacles)));
  return pq::collect(rows, [&](int row) { return std::string{rows.text(row, 0)}; });
}

Result<std::vector<std::string>> PostgresStore::partition_sql(const PartitionRequest& request) {
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  return statements_of(*lease, request);
}

Result<void> PostgresStore::take_partition_step(const PartitionRequest& request, const Actor& actor) {
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  SLUICE_CHECK(in_transaction(*lease, [&] { return take_step(*lease, request, actor); }));
  if (request.step == PartitionStep::swap) SLUICE_CHECK(lease->script(pg_sql::partition_analyze.text));
  return {};
}

Result<void> PostgresStore::abandon_partition(const Actor& actor) {
  SLUICE_TRY(const PartitionLayout layout, partition_layout());
  if (layout.partitioned) {
    return Error{ErrorCode::conflict,
                 Retry::never,
                 "core.outbox is partitioned: there is no way back to one table",
                 {},
                 "docs/how-to/partition-events.md says what can be done instead"};
  }
  if (!layout.boundary && !layout.prepared) return {};
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  return in_transaction(*lease, [&]() -> Result<void> {
    SLUICE_CHECK(lease->script(pg_sql::partition_abandon.text));
    pq::Params params;
    params.text(std::string_view{actor.name}).text(std::string_view{actor.surface});
    params.text(std::string_view{actor.reason}).text(std::string_view{"abandon"}).timestamptz(layout.boundary);
    SLUICE_CHECK(lease->run_unprepared(writing(pg_sql::partition_audit), params));
    return {};
  });
}

Result<std::optional<PartitionChange>> PostgresStore::keep_partitions(const RetentionPolicies& policies, bool dry_run,
                                                                      const Actor& actor) {
  SLUICE_CHECK(policies.validate());
  pq::Params params;
  params.interval(policies.outbox.active).interval(policies.outbox.grace);
  params.interval(policies.event_handled.active).interval(policies.event_handled.grace);
  params.int4(kMonthsAhead).boolean(dry_run);
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::partition_upkeep), add(params, actor)));
  if (rows.empty()) return std::optional<PartitionChange>{};
  return std::optional{PartitionChange{std::string{rows.text(0, 0)}, std::string{rows.text(0, 1)}, rows.int8(0, 2)}};
}

}  // namespace sluice::store
