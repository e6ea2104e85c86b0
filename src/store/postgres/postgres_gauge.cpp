#include <algorithm>

#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

constexpr auto kMostRemembered = static_cast<std::size_t>(kGaugeLook);
constexpr auto kOneMore = static_cast<std::int32_t>(kGaugeLook) + 1;  // tells "all" from "at least"

/// Rows of gauge_look.sql: one sums up, the others are numbers.
PendingLook look_of(const pq::Rows& rows) {
  PendingLook look;
  look.numbers.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    if (rows.is_null(row, 0)) {
      look.numbers.push_back(rows.int8(row, 1));
    } else {
      look.looked = rows.int8(row, 0);
      look.last = rows.int8(row, 1);
      look.pending = rows.int8(row, 2);
      look.oldest = rows.optional_timestamptz(row, 3);
    }
  }
  return look;
}

/// Runs the statements of one gauging on one connection.
class Gauge {
 public:
  explicit Gauge(pq::Connection& connection) : connection_(connection) {}

  Result<pq::Rows> run(const pg_sql::Query& query, const pq::Params& params = {}) {
    return connection_.run(reading(query), params);
  }

  Result<PendingLook> look(Generation generation, std::int64_t above, std::optional<std::int64_t> upto) {
    pq::Params params;
    params.int8(generation).int8(above).int8(upto);
    params.int4(static_cast<std::int32_t>(PendingWalk::kLookRows)).int4(kOneMore);
    const Result<pq::Rows> rows = run(pg_sql::gauge_look, params);
    if (!rows) return rows.error();
    return look_of(*rows);
  }

  /// What the walk found pending before is looked at again.
  Result<void> reopen(Generation generation, PendingWalk& walk) {
    if (walk.remembered().empty()) return {};
    pq::Params params;
    params.int8(generation);
    {
      pq::Params::Array numbers = params.array(pq::Params::Element::int8);
      for (const std::int64_t number : walk.remembered()) numbers.int8(number);
    }
    const Result<pq::Rows> rows = run(pg_sql::gauge_still_pending, params);
    if (!rows) return rows.error();
    std::optional<Timestamp> oldest;
    for (int row = 0; row < rows->size(); ++row) {
      oldest = std::min(oldest.value_or(rows->timestamptz(row, 1)), rows->timestamptz(row, 1));
    }
    walk.reopen(pq::collect(*rows, [&](int row) { return rows->int8(row, 0); }), oldest);
    return {};
  }

  /// Ahead, and through a part of the history.
  Result<void> walk_on(Generation generation, PendingWalk& walk) {
    while (const auto above = walk.look_above()) {
      const auto seen = look(generation, *above, std::nullopt);
      if (!seen) return seen.error();
      walk.looked(*seen);
    }
    const auto history = walk.history();
    if (!history) return {};
    const auto seen = look(generation, history->above, history->upto);
    if (!seen) return seen.error();
    walk.looked_at_history(*seen);
    return {};
  }

  Result<void> count_waited(GenerationGauges& gauges) {
    const Result<pq::Rows> rows = run(pg_sql::gauge_waited, pq::Params{}.int8(gauges.generation).int4(kOneMore));
    if (!rows) return rows.error();
    gauges.due = rows->int8(0, 0);
    gauges.oldest_due = rows->optional_timestamptz(0, 1);
    gauges.waiting = std::min(rows->int8(0, 2), kGaugeLook);
    return {};
  }

 private:
  pq::Connection& connection_;
};

void add_pending(GenerationGauges& gauges, std::int64_t events, std::optional<Timestamp> oldest) {
  gauges.due += events;
  if (oldest) gauges.oldest_due = std::min(gauges.oldest_due.value_or(*oldest), *oldest);
}

}  // namespace

Result<StoreGauges> PostgresStore::gauges() {
  const std::scoped_lock lock{gauge_mutex_};
  Result<pq::Pool::Lease> lease = pool_.lease();
  if (!lease) return std::move(lease).error();
  Gauge gauge{**lease};
  const Result<pq::Rows> parts = gauge.run(pg_sql::gauge_generations);
  if (!parts) return parts.error();
  std::map<Generation, GenerationGauges> rows;
  for (int row = 0; row < parts->size(); ++row) {
    const Generation generation = parts->int8(row, 0);
    const std::int64_t scanned = parts->is_null(row, 2) ? 0 : parts->int8(row, 2);
    PendingWalk& walk = walks_.try_emplace(generation, scanned, kMostRemembered).first->second;
    walk.begin();
    if (auto done = gauge.reopen(generation, walk); !done) return std::move(done).error();
    if (auto done = gauge.walk_on(generation, walk); !done) return std::move(done).error();
    rows[generation].generation = generation;
    if (auto done = gauge.count_waited(rows[generation]); !done) return std::move(done).error();
  }
  std::erase_if(walks_, [&](const auto& walk) { return !rows.contains(walk.first); });

  const Result<pq::Rows> in_flight = gauge.run(pg_sql::gauge_in_flight);
  if (!in_flight) return in_flight.error();
  for (int row = 0; row < in_flight->size(); ++row) {
    rows[in_flight->int8(row, 0)].in_flight = in_flight->int8(row, 1);
  }
  const Result<pq::Rows> dead = gauge.run(pg_sql::gauge_dead, pq::Params{}.int4(kOneMore));
  if (!dead) return dead.error();
  StoreGauges gauges;
  std::int64_t dead_in_all = 0;
  for (int row = 0; row < dead->size(); ++row) {
    rows[dead->int8(row, 0)].dead = std::min(dead->int8(row, 1), kGaugeLook);
    dead_in_all += dead->int8(row, 1);
  }
  gauges.dead_capped = dead_in_all > kGaugeLook;

  // Last, so that whoever could have inserted before a look is below the horizon.
  const Result<pq::Rows> horizon = gauge.run(pg_sql::gauge_horizon);
  if (!horizon) return horizon.error();
  gauges.now = horizon->timestamptz(0, 0);
  for (int row = 0; row < parts->size(); ++row) {
    const Generation generation = parts->int8(row, 0);
    PendingWalk& walk = walks_.at(generation);
    walk.end({parts->int8(row, 3), horizon->int8(0, 1) - 1});
    gauges.newest = std::max(gauges.newest, parts->int8(row, 1));
    gauges.oldest = row == 0 ? parts->int8(row, 4) : std::min(gauges.oldest, parts->int8(row, 4));
    add_pending(rows[generation], walk.count(parts->int8(row, 1)), walk.oldest());
  }
  for (auto& [generation, row] : rows) {
    row.generation = generation;
    if (row.due + row.waiting + row.in_flight + row.dead > 0) gauges.generations.push_back(row);
  }
  return gauges;
}

}  // namespace sluice::store
