#include <algorithm>

#include "core/try.hpp"
#include "store/postgres/postgres_records.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"
#include "store/postgres/snapshot.hpp"

namespace sluice::store {
namespace {

const pg_sql::Query& dead_list_for(const EventFilter& filter) {
  if (filter.oldest_first) return names_groups(filter) ? pg_sql::dead_list_of_groups_oldest : pg_sql::dead_list_oldest;
  return names_groups(filter) ? pg_sql::dead_list_of_groups : pg_sql::dead_list;
}

FailureGroup failure_group(const pq::Rows& rows, int row) {
  int column = 0;
  const auto next = [&column] { return column++; };
  FailureGroup group;
  group.event_type = rows.text(row, next());
  group.source = rows.text(row, next());
  group.target = rows.optional_text(row, next());
  group.error_class = rows.text(row, next());
  group.fingerprint = rows.text(row, next());
  group.sample_error = rows.text(row, next());
  group.count = rows.int8(row, next());
  group.first_failed_at = rows.timestamptz(row, next());
  group.last_failed_at = rows.timestamptz(row, next());
  group.first_generation = rows.int8(row, next());
  group.last_generation = rows.int8(row, next());
  group.first_seen_at = rows.timestamptz(row, next());
  group.replayed = rows.int8(row, next());
  group.acknowledged_at = rows.optional_timestamptz(row, next());
  group.acknowledged_by = rows.text(row, next());
  group.acknowledged_reason = rows.text(row, next());
  group.came_back = rows.int8(row, next());
  if (const int generation = next(); !rows.is_null(row, generation))
    group.came_back_generation = rows.int8(row, generation);
  return group;
}

}  // namespace

Result<DeadPage> PostgresStore::list_dead(const EventFilter& filter, int limit,
                                          const std::optional<DeadCursor>& after) {
  if (limit < 1) return invalid("limit", "expected at least 1, got " + std::to_string(limit));
  pq::Params params;
  params.jsonb(filter_json(filter)).timestamptz(after ? std::optional{after->failed_at} : std::nullopt);
  params.int8(after ? std::optional{after->seq} : std::nullopt).int4(limit + 1).boolean(filter.heads_only);
  SLUICE_TRY(const pq::Rows rows, run(searching(dead_list_for(filter), filter.searches()), params));
  DeadPage page;
  const int shown = std::min(rows.size(), limit);
  for (int row = 0; row < shown; ++row) page.events.push_back(event_record(rows, row));
  if (rows.size() > limit) page.next = DeadCursor{page.events.back().failed_at.value(), page.events.back().seq};
  return page;
}

Result<std::int64_t> PostgresStore::count_dead(const EventFilter& filter, std::int64_t limit) {
  SLUICE_TRY(const pq::Rows rows, run(searching(pg_sql::dead_count, filter.searches()),
                                      pq::Params{}.jsonb(filter_json(filter)).int8(limit)));
  return rows.int8(0, 0);
}

Result<std::int64_t> PostgresStore::count_unacknowledged(std::int64_t limit) {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::dead_unacknowledged), pq::Params{}.int8(limit)));
  return rows.int8(0, 0);
}

Result<std::int64_t> PostgresStore::count_dead_ahead(const Uuid& operation_id, const EventFilter& filter,
                                                     std::int64_t limit) {
  SLUICE_TRY(const pq::Rows rows, run(searching(pg_sql::dead_count_ahead, filter.searches()),
                                      pq::Params{}.jsonb(filter_json(filter)).uuid(operation_id).int8(limit)));
  return rows.int8(0, 0);
}

Result<std::vector<std::string>> PostgresStore::fingerprints(const std::string& prefix, int limit) {
  SLUICE_TRY(const pq::Rows rows,
             run(reading(pg_sql::failure_fingerprints), pq::Params{}.text(std::string_view{prefix}).int4(limit)));
  return pq::collect(rows, [&](int row) { return std::string{rows.text(row, 0)}; });
}

Result<std::vector<FailureGroup>> PostgresStore::failure_groups(const EventFilter& filter) {
  // How many kinds there are the planner rarely knows: taking the counts for dear, it would compile the statement for
  // longer than they take.
  SLUICE_TRY(const pq::Rows rows, in_snapshot(pool_, options_.longest_statement, [&](pq::Connection& connection) {
               return connection.run(searching(pg_sql::failure_groups, filter.searches()),
                                     pq::Params{}.jsonb(filter_json(filter)));
             }));
  return pq::collect(rows, [&](int row) { return failure_group(rows, row); });
}

Result<std::vector<std::int64_t>> PostgresStore::failure_histogram(const EventFilter& filter,
                                                                   const HistogramGrid& grid) {
  pq::Params params;
  params.jsonb(filter_json(within(filter, grid))).timestamptz(grid.from);
  params.int8(std::chrono::duration_cast<std::chrono::seconds>(grid.step).count());
  SLUICE_TRY(const pq::Rows rows, run(searching(pg_sql::failure_histogram, filter.searches()), params));
  std::vector<std::int64_t> counts(static_cast<std::size_t>(grid.stretches));
  for (int row = 0; row < rows.size(); ++row)
    counts.at(static_cast<std::size_t>(rows.int8(row, 0))) = rows.int8(row, 1);
  return counts;
}

Result<std::vector<AuditRecord>> PostgresStore::audit_of_group(const std::string& fingerprint, int limit) {
  SLUICE_TRY(const pq::Rows rows,
             run(reading(pg_sql::audit_of_group), pq::Params{}.text(std::string_view{fingerprint}).int4(limit)));
  return pq::collect(rows, [&](int row) { return audit_record(rows, row); });
}

Result<std::int64_t> PostgresStore::note(const std::string& fingerprint, const Actor& author) {
  pq::Params params;
  params.text(std::string_view{fingerprint});
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::failure_note), add(params, author)));
  return rows.int8(0, 0);
}

Result<std::int64_t> PostgresStore::acknowledge(const std::string& fingerprint, bool known, const Actor& actor) {
  pq::Params params;
  params.text(std::string_view{fingerprint}).boolean(known);
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::failure_acknowledge), add(params, actor)));
  return rows.int8(0, 0);
}

}  // namespace sluice::store
