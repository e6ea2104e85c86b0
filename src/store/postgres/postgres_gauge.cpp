#include <algorithm>

#include "core/try.hpp"
#include "store/postgres/pending_reader.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

constexpr auto kOneMoreWaited = static_cast<std::int32_t>(kGaugeLook) + 1;  // tells "all" from "at least"

Result<GenerationGauges> count_waited(pq::Connection& connection, Generation generation) {
  SLUICE_TRY(const pq::Rows rows,
             connection.run(reading(pg_sql::gauge_waited), pq::Params{}.int8(generation).int4(kOneMoreWaited)));
  GenerationGauges gauges;
  gauges.generation = generation;
  gauges.due = rows.int8(0, 0);
  gauges.oldest_due = rows.optional_timestamptz(0, 1);
  gauges.waiting = std::min(rows.int8(0, 2), kGaugeLook);
  return gauges;
}

void add_pending(GenerationGauges& gauges, std::int64_t events, std::optional<Timestamp> oldest) {
  gauges.due += events;
  if (oldest) gauges.oldest_due = std::min(gauges.oldest_due.value_or(*oldest), *oldest);
}

}  // namespace

Result<StoreGauges> PostgresStore::gauges() {
  const std::scoped_lock lock{walks_mutex_};
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  PendingReader pending{*lease, current_walks()};
  SLUICE_TRY(const auto parts, pending.read(PendingWalk::Reach::some));
  std::map<Generation, GenerationGauges> rows;
  for (const PendingReader::Part& part : parts) {
    SLUICE_TRY(const auto waited, count_waited(*lease, part.generation));
    rows[part.generation] = waited;
  }

  SLUICE_TRY(const pq::Rows in_flight, lease->run(reading(pg_sql::gauge_in_flight)));
  for (int row = 0; row < in_flight.size(); ++row) {
    rows[in_flight.int8(row, 0)].in_flight = in_flight.int8(row, 1);
  }
  SLUICE_TRY(const pq::Rows dead, lease->run(reading(pg_sql::gauge_dead), pq::Params{}.int4(kOneMoreWaited)));
  StoreGauges gauges;
  std::int64_t dead_in_all = 0;
  for (int row = 0; row < dead.size(); ++row) {
    rows[dead.int8(row, 0)].dead = std::min(dead.int8(row, 1), kGaugeLook);
    dead_in_all += dead.int8(row, 1);
  }
  gauges.dead_capped = dead_in_all > kGaugeLook;

  SLUICE_TRY(const auto now, pending.end());
  gauges.now = now;
  gauges.oldest = parts.empty() ? 0 : parts.front().oldest;
  for (const PendingReader::Part& part : parts) {
    const PendingWalk& walk = walks_.at(part.generation);
    gauges.newest = std::max(gauges.newest, part.newest);
    gauges.oldest = std::min(gauges.oldest, part.oldest);
    add_pending(rows[part.generation], walk.count(part.newest), walk.oldest());
  }
  for (auto& [generation, row] : rows) {
    row.generation = generation;
    if (row.due + row.waiting + row.in_flight + row.dead > 0) gauges.generations.push_back(row);
  }
  return gauges;
}

}  // namespace sluice::store
