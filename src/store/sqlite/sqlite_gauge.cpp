#include <algorithm>
#include <map>

#include "core/try.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

constexpr std::int64_t kOneMore = kGaugeLook + 1;  // tells "all" from "at least"

using ByGeneration = std::map<Generation, GenerationGauges>;

void add_due(GenerationGauges& gauges, std::int64_t events, std::optional<Timestamp> oldest) {
  gauges.due += events;
  if (oldest) gauges.oldest_due = std::min(gauges.oldest_due.value_or(*oldest), *oldest);
}

// Numbers are given in insert order and events are taken from the front: from the first to the last that is left
// nearly all are.
std::int64_t estimated(std::int64_t counted, std::optional<std::int64_t> first, std::optional<std::int64_t> last) {
  if (counted <= kGaugeLook || !first || !last) return counted;
  return std::max(counted, *last - *first + 1);
}

Result<void> count_fresh(Connection& connection, ByGeneration& rows) {
  return connection.each(sql::gauge_fresh, {{":limit", kOneMore}}, [&](Row& row) {
    GenerationGauges& gauges = rows[row.integer()];
    const std::int64_t counted = row.integer();
    const auto first = row.optional_integer();
    const auto last = row.optional_integer();
    add_due(gauges, estimated(counted, first, last), row.optional_timestamp());
  });
}

Result<void> count_waited(Connection& connection, Timestamp now, ByGeneration& rows) {
  return connection.each(sql::gauge_waited, {{":now", now}, {":limit", kOneMore}}, [&](Row& row) {
    GenerationGauges& gauges = rows[row.integer()];
    const std::int64_t due = row.integer();
    add_due(gauges, due, row.optional_timestamp());
    gauges.waiting = std::min(row.integer(), kGaugeLook);
  });
}

/// The dead ones in all, as far as they were counted.
Result<std::int64_t> count_others(Connection& connection, ByGeneration& rows) {
  std::int64_t dead = 0;
  auto read = connection.each(sql::gauge_others, {{":limit", kOneMore}}, [&](Row& row) {
    GenerationGauges& gauges = rows[row.integer()];
    const bool in_flight = row.view() == "in_flight";
    const std::int64_t events = row.integer();
    (in_flight ? gauges.in_flight : gauges.dead) = in_flight ? events : std::min(events, kGaugeLook);
    if (!in_flight) dead += events;
  });
  if (!read) return std::move(read).error();
  return dead;
}

}  // namespace

Result<StoreGauges> SqliteStore::gauges() {
  return database_->read([&](Connection& connection) -> Result<StoreGauges> {
    StoreGauges gauges;
    gauges.now = clock_();
    ByGeneration rows;
    SLUICE_CHECK(count_fresh(connection, rows));
    SLUICE_CHECK(count_waited(connection, gauges.now, rows));
    SLUICE_TRY(const auto dead, count_others(connection, rows));
    gauges.dead_capped = dead > kGaugeLook;
    SLUICE_CHECK(connection.each(sql::gauge_numbers, {}, [&](Row& row) {
      gauges.oldest = row.integer();
      gauges.newest = row.integer();
    }));
    for (auto& [generation, row] : rows) {
      row.generation = generation;
      gauges.generations.push_back(row);
    }
    return gauges;
  });
}

}  // namespace sluice::store::sqlite
