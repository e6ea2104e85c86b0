#include <cstdlib>
#include <map>

#include "core/try.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

enum class Slicing { none, number, text };

/// How the rows of a table are taken in. A table without `clear` keeps what an earlier pass has brought.
struct MovedTable {
  const pg_sql::Query* clear = nullptr;
  const pg_sql::Query* import = nullptr;
  const pg_sql::Query* differ = nullptr;
  Slicing slicing = Slicing::none;
};

const std::map<std::string_view, MovedTable>& moved_tables() {
  static const std::map<std::string_view, MovedTable> tables{
      {"settings", {nullptr, &pg_sql::move_import_settings, &pg_sql::move_differ_settings}},
      {"deployments",
       {&pg_sql::move_clear_deployments, &pg_sql::move_import_deployments, &pg_sql::move_differ_deployments}},
      {"subscriptions",
       {&pg_sql::move_clear_subscriptions, &pg_sql::move_import_subscriptions, &pg_sql::move_differ_subscriptions}},
      {"sinks", {&pg_sql::move_clear_sinks, &pg_sql::move_import_sinks, &pg_sql::move_differ_sinks}},
      {"outbox",
       {&pg_sql::move_clear_outbox, &pg_sql::move_import_outbox, &pg_sql::move_differ_outbox, Slicing::number}},
      {"event_handled",
       {&pg_sql::move_clear_event_handled, &pg_sql::move_import_event_handled, &pg_sql::move_differ_event_handled,
        Slicing::text}},
      {"operations",
       {&pg_sql::move_clear_operations, &pg_sql::move_import_operations, &pg_sql::move_differ_operations}},
      {"operation_items",
       {&pg_sql::move_clear_operation_items, &pg_sql::move_import_operation_items, &pg_sql::move_differ_operation_items,
        Slicing::text}},
      {"audit", {nullptr, &pg_sql::move_import_audit, &pg_sql::move_differ_audit, Slicing::number}},
      {"stranded", {&pg_sql::move_clear_stranded, &pg_sql::move_import_stranded, &pg_sql::move_differ_stranded}},
      {"ladder_samples",
       {&pg_sql::move_clear_ladder_samples, &pg_sql::move_import_ladder_samples, &pg_sql::move_differ_ladder_samples}},
      {"attempts",
       {&pg_sql::move_clear_attempts, &pg_sql::move_import_attempts, &pg_sql::move_differ_attempts, Slicing::text}},
      {"saved_filters",
       {&pg_sql::move_clear_saved_filters, &pg_sql::move_import_saved_filters, &pg_sql::move_differ_saved_filters}},
      {"failure_groups", {nullptr, &pg_sql::move_import_failure_groups, &pg_sql::move_differ_failure_groups}},
  };
  return tables;
}

Result<const MovedTable*> table_of(const MoveSlice& slice) {
  const auto found = moved_tables().find(slice.table);
  if (found == moved_tables().end()) return invalid("table", "this store cannot take in the table " + slice.table);
  return &found->second;
}

void add_rows(pq::Params& params, std::span<const std::string> rows) {
  pq::Params::Array array = params.array(pq::Params::Element::jsonb);
  for (const std::string& row : rows) array.jsonb(row);
}

void add_slice(pq::Params& params, const MovedTable& table, const MoveSlice& slice) {
  if (table.slicing == Slicing::number) params.int8(std::int64_t{std::atoll(slice.slice.c_str())});
  if (table.slicing == Slicing::text) params.text(std::string_view{slice.slice});
}

Result<std::int64_t> count_differing(pq::Connection& connection, const MovedTable& table, const MoveSlice& slice,
                                     std::span<const std::string> rows) {
  pq::Params params;
  add_rows(params, rows);
  add_slice(params, table, slice);
  SLUICE_TRY(const pq::Rows found, connection.run(reading(*table.differ), params));
  return found.int8(0, 0);
}

Result<void> replace_slice(pq::Connection& connection, const MovedTable& table, const MovedSlice& moved,
                           std::span<const std::string> rows) {
  pq::Params record;
  record.text(std::string_view{moved.slice.table}).text(std::string_view{moved.slice.slice});
  SLUICE_TRY(const pq::Rows known, connection.run(reading(pg_sql::move_known), record));
  // What never came need not be looked for. A whole table may hold what somebody has declared here.
  if (table.clear != nullptr && (known.boolean(0, 0) || moved.slice.slice.empty())) {
    pq::Params params;
    add_slice(params, table, moved.slice);
    SLUICE_CHECK(connection.run(writing(*table.clear), params));
  }
  if (rows.empty() && !moved.slice.slice.empty()) {
    SLUICE_CHECK(connection.run(writing(pg_sql::move_forget), record));
    return {};
  }
  pq::Params params;
  add_rows(params, rows);
  SLUICE_CHECK(connection.run(writing(*table.import), params));
  SLUICE_TRY(const std::int64_t differing, count_differing(connection, table, moved.slice, rows));
  if (differing != 0) {
    return Error{ErrorCode::conflict, Retry::never,
                 std::to_string(differing) + " rows of " + moved.slice.table + " (slice `" + moved.slice.slice +
                     "`) are not stored as they were given",
                 "to", "nothing was moved; is somebody else writing to the new store?"};
  }
  record.text(std::string_view{moved.digest}).int8(moved.rows);
  SLUICE_CHECK(connection.run(writing(pg_sql::move_record), record));
  return {};
}

}  // namespace

Result<MoveState> PostgresStore::move_state() {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::move_state)));
  return MoveState{rows.optional_text(0, 0), rows.optional_text(0, 1), rows.boolean(0, 2), rows.boolean(0, 3)};
}

Result<void> PostgresStore::begin_move(const std::string& from) {
  SLUICE_CHECK(run(writing(pg_sql::move_begin), pq::Params{}.text(std::string_view{from})));
  return {};
}

Result<std::vector<MovedSlice>> PostgresStore::moved_slices() {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::move_slices)));
  return pq::collect(rows, [&](int row) {
    return MovedSlice{{std::string{rows.text(row, 0)}, std::string{rows.text(row, 1)}},
                      std::string{rows.text(row, 2)},
                      rows.int8(row, 3)};
  });
}

Result<void> PostgresStore::import_slice(const MovedSlice& slice, std::span<const std::string> rows) {
  SLUICE_TRY(const MovedTable* const table, table_of(slice.slice));
  SLUICE_TRY(auto lease, pool_.lease());
  SLUICE_CHECK(lease->script("begin"));
  auto replaced = replace_slice(*lease, *table, slice, rows);
  if (!replaced) {
    (void)lease->script("rollback");
    return replaced;
  }
  return lease->commit();
}

Result<std::int64_t> PostgresStore::differing(const MoveSlice& slice, std::span<const std::string> rows) {
  SLUICE_TRY(const MovedTable* const table, table_of(slice));
  SLUICE_TRY(auto lease, pool_.lease());
  return count_differing(*lease, *table, slice, rows);
}

Result<std::vector<std::int64_t>> PostgresStore::move_totals() {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::move_totals)));
  return std::vector{rows.int8(0, 0), rows.int8(0, 1), rows.int8(0, 2), rows.int8(0, 3)};
}

Result<void> PostgresStore::finish_move(const Actor& actor) {
  SLUICE_TRY(auto lease, pool_.lease());
  SLUICE_CHECK(lease->script("begin"));
  auto numbered = lease->run(writing(pg_sql::move_numbers));
  pq::Params params;
  params.text(std::string_view{actor.name}).text(std::string_view{actor.surface}).text(std::string_view{actor.reason});
  if (numbered) numbered = lease->run(writing(pg_sql::move_finish), params);
  if (!numbered) {
    (void)lease->script("rollback");
    return std::move(numbered).error();
  }
  return lease->commit();
}

Result<void> PostgresStore::undo_move() {
  SLUICE_CHECK(run(writing(pg_sql::move_undo)));
  return {};
}

}  // namespace sluice::store
