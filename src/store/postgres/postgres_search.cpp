// Indexes for searches, made and dropped while publishers and workers go on; and filters that a team keeps.
#include "core/json.hpp"
#include "core/try.hpp"
#include "store/postgres/lock_holder.hpp"
#include "store/postgres/postgres_records.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

// jsonb_path_ops holds values with the way to them, in a third of the room that all keys would take.
constexpr std::string_view definition_of(SearchIndex index) {
  return index == SearchIndex::payload ? "using gin (payload jsonb_path_ops)"
                                       : "(substr(trace_context, 4, 32)) where trace_context is not null";
}

struct IndexStep {
  std::string sql;
  bool locks = false;
};

Result<std::vector<IndexStep>> index_steps(pq::Connection& connection, const IndexRequest& request) {
  pq::Params params;
  params.text(name(request.index)).text(definition_of(request.index)).boolean(request.drop);
  SLUICE_TRY(const pq::Rows rows, connection.run_unprepared(reading(pg_sql::index_steps), params));
  return pq::collect(rows, [&](int row) { return IndexStep{std::string{rows.text(row, 0)}, rows.boolean(row, 1)}; });
}

/// Whoever comes while a lock is waited for waits behind it, so that is for a moment only. A concurrent build waits for
/// old transactions as long as they take and blocks nobody: giving up would leave it invalid.
Result<void> run_step(pq::Connection& connection, const IndexStep& step) {
  SLUICE_CHECK(connection.script(step.locks ? "set lock_timeout = '200ms'; set statement_timeout = 0"
                                            : "set lock_timeout = 0; set statement_timeout = 0"));
  Result<void> done = connection.script(step.sql);
  SLUICE_CHECK(connection.script("reset lock_timeout; reset statement_timeout", pq::Effect::read));
  if (done) return {};
  return name_holder(connection, std::move(done).error());
}

Result<bool> first_step(pq::Connection& connection, const IndexRequest& request, const Actor& actor) {
  SLUICE_TRY(const auto steps, index_steps(connection, request));
  if (steps.empty()) return false;
  if (request.first) {
    pq::Params params;
    add(params, actor).boolean(request.drop).text(name(request.index));
    SLUICE_CHECK(connection.run_unprepared(writing(pg_sql::index_audit), params));
  }
  SLUICE_CHECK(run_step(connection, steps.front()));
  return true;
}

SavedFilter saved_filter(const pq::Rows& rows, int row) {
  return {std::string{rows.text(row, 0)}, std::string{rows.text(row, 1)}, std::string{rows.text(row, 2)},
          rows.timestamptz(row, 3)};
}

}  // namespace

std::string payload_condition(const std::vector<PayloadTerm>& terms) {
  std::string condition;
  for (const PayloadTerm& term : terms) {
    std::string place = "$";
    for (const std::string& part : term.path) {
      place += '.';
      json::append_quoted(place, part);
    }
    condition += (condition.empty() ? "(" : " && (") + place + " == " + json::quote(term.value);
    if (const auto scalar = scalar_of(term)) condition += " || " + place + " == " + *scalar;
    condition += ')';
  }
  return condition;
}

Result<bool> PostgresStore::has_index(SearchIndex index) {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::index_ready), pq::Params{}.text(name(index))));
  return rows.boolean(0, 0);
}

Result<std::vector<std::string>> PostgresStore::index_sql(const IndexRequest& request) {
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  SLUICE_TRY(const auto steps, index_steps(*lease, request));
  std::vector<std::string> statements;
  for (const IndexStep& step : steps) statements.push_back(step.sql);
  return statements;
}

Result<bool> PostgresStore::take_index_step(const IndexRequest& request, const Actor& actor) {
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  SLUICE_TRY(const pq::Rows locked, lease->run_unprepared(reading(pg_sql::index_lock)));
  if (!locked.boolean(0, 0)) {
    return Error{ErrorCode::conflict,
                 Retry::safe,
                 "another `sluice db index` is at work on this database",
                 {},
                 "wait for it; one whose terminal was closed goes on in the server until its index is made"};
  }
  Result<bool> taken = first_step(*lease, request, actor);
  if (auto unlocked = lease->run_unprepared(reading(pg_sql::index_unlock)); taken && !unlocked) {
    return std::move(unlocked).error();
  }
  return taken;
}

Result<std::vector<SavedFilter>> PostgresStore::saved_filters() {
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::filter_list)));
  return pq::collect(rows, [&](int row) { return saved_filter(rows, row); });
}

Result<SavedFilter> PostgresStore::save_filter(const std::string& name, const std::string& filter, const Actor& actor) {
  pq::Params params;
  params.text(std::string_view{name}).text(std::string_view{filter});
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::filter_save), add(params, actor)));
  return saved_filter(rows, 0);
}

Result<void> PostgresStore::remove_filter(const std::string& name, const Actor& actor) {
  pq::Params params;
  params.text(std::string_view{name});
  SLUICE_CHECK(run(writing(pg_sql::filter_remove), add(params, actor)));
  return {};
}

}  // namespace sluice::store
