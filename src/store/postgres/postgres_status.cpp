// How many events are in which state. What is live is counted exactly, where it can be found; of what is finished there
// may be any number: beyond a bound a sample has to do.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/try.hpp"
#include "store/diagnosis.hpp"
#include "store/postgres/pending_reader.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"
#include "store/postgres/snapshot.hpp"

namespace sluice::store {
namespace {

// Measured over 250,000 pages with a million events: 3.4 µs per page read, so some 55 ms for 16,000; the sample took 20
// ms.
constexpr std::int32_t kMostPagesRead = 16'000;
constexpr std::int32_t kSampledPages = 4'000;
constexpr std::int64_t kEverything = 1'000'000'000;
constexpr std::int32_t kDeadLook = 100'000;  // from an index that is small
constexpr std::int32_t kTombstoneLook = 10'000;
constexpr std::int32_t kWaitingLook = 20'000;

/// From a part of all, given in billionths. Three digits: more would pretend to know more.
std::int64_t extrapolated(std::int64_t seen, std::int64_t part) {
  if (part >= kEverything) return seen;
  const double events = static_cast<double>(seen) * static_cast<double>(kEverything) / static_cast<double>(part);
  if (events < 1000) return std::llround(events);
  const double unit = std::pow(10, std::floor(std::log10(events)) - 2);
  return std::llround(events / unit) * static_cast<std::int64_t>(unit);
}

struct Figure {
  std::int64_t count = 0;
  bool estimated = false;
};

struct Finished {
  Figure delivered;
  Figure failed;
};

class Count {
 public:
  Count(pq::Connection& connection, PendingWalks& walks) : connection_(connection), walks_(walks) {}

  Result<StoreStatus> all() {
    SLUICE_CHECK(pending());
    SLUICE_CHECK(in_flight());
    SLUICE_CHECK(finished());
    std::sort(status_.counts.begin(), status_.counts.end(), [](const StatusCount& left, const StatusCount& right) {
      return std::pair{left.generation, name(left.status)} < std::pair{right.generation, name(right.status)};
    });
    return std::move(status_);
  }

 private:
  Result<pq::Rows> run(const pg_sql::Query& query, const pq::Params& params = {}) {
    return connection_.run(reading(query), params);
  }

  void note(Generation generation, Status status, Figure figure) {
    if (figure.count == 0 && !figure.estimated) return;
    status_.counts.push_back({generation, status, figure.count, 0, {}, figure.estimated});
  }

  Result<void> pending() {
    PendingReader reader{connection_, walks_};
    SLUICE_TRY(const auto parts, reader.read(PendingWalk::Reach::the_end));
    SLUICE_TRY(const auto now, reader.end());
    status_.now = now;
    for (const PendingReader::Part& part : parts) {
      const PendingWalk& walk = walks_.at(part.generation);
      pq::Params params;
      params.int8(part.generation);
      add_numbers(params, walk.found());
      SLUICE_TRY(const pq::Rows rows, run(pg_sql::status_pending, params.int4(kWaitingLook)));
      const std::int64_t waited = rows.int8(0, 1);
      StatusCount count{part.generation, Status::pending, walk.count(part.newest) + waited, rows.int8(0, 2), {}, false};
      count.oldest = rows.optional_timestamptz(0, 0);
      if (const auto oldest = rows.optional_timestamptz(0, 3)) {
        count.oldest = std::min(count.oldest.value_or(*oldest), *oldest);
      }
      count.estimated = !walk.complete() || waited > kWaitingLook;
      if (count.count > 0) status_.counts.push_back(count);
      finished_[part.generation];
    }
    return {};
  }

  Result<void> in_flight() {
    SLUICE_TRY(const pq::Rows rows, run(pg_sql::gauge_in_flight));
    for (int row = 0; row < rows.size(); ++row) note(rows.int8(row, 0), Status::in_flight, {rows.int8(row, 1), false});
    return {};
  }

  Result<void> finished() {
    SLUICE_TRY(const pq::Rows rows,
               run(pg_sql::status_finished, pq::Params{}.int4(kMostPagesRead).int4(kSampledPages)));
    const std::int64_t part = rows.int8(0, 0);
    const bool sampled = part < kEverything;
    Figure discarded{0, sampled};
    for (auto& [generation, figures] : finished_) figures = {{0, sampled}, {0, sampled}};
    for (int row = 0; row < rows.size() && !rows.is_null(row, 1); ++row) {
      Finished& figures = finished_[rows.int8(row, 1)];
      figures.delivered = {extrapolated(rows.int8(row, 2), part), sampled};
      figures.failed = {extrapolated(rows.int8(row, 3), part), sampled};
      discarded.count += extrapolated(rows.int8(row, 4), part);
    }
    if (sampled) {
      SLUICE_CHECK(count_dead());
      SLUICE_CHECK(count_discarded(discarded));
    }
    status_.discarded = discarded.count;
    status_.discarded_estimated = discarded.estimated;
    for (const auto& [generation, figures] : finished_) {
      note(generation, Status::delivered, figures.delivered);
      note(generation, Status::failed, figures.failed);
    }
    return {};
  }

  /// Instead of the sample's figures where there are few, else at least.
  Result<void> count_dead() {
    SLUICE_TRY(const pq::Rows rows, run(pg_sql::gauge_dead, pq::Params{}.int4(kDeadLook + 1)));
    std::map<Generation, std::int64_t> dead;
    std::int64_t in_all = 0;
    for (int row = 0; row < rows.size(); ++row) in_all += dead[rows.int8(row, 0)] = rows.int8(row, 1);
    for (auto& [generation, figures] : finished_) {
      const std::int64_t counted = dead[generation];
      figures.failed =
          in_all > kDeadLook ? Figure{std::max(counted, figures.failed.count), true} : Figure{counted, false};
    }
    return {};
  }

  Result<void> count_discarded(Figure& discarded) {
    SLUICE_TRY(const pq::Rows rows, run(pg_sql::status_discarded, pq::Params{}.int4(kTombstoneLook + 1)));
    const std::int64_t counted = rows.int8(0, 0);
    discarded =
        rows.int8(0, 1) > kTombstoneLook ? Figure{std::max(counted, discarded.count), true} : Figure{counted, false};
    return {};
  }

  pq::Connection& connection_;
  PendingWalks& walks_;
  StoreStatus status_;
  std::map<Generation, Finished> finished_;
};

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

PendingWalks& PostgresStore::current_walks() {
  if (const std::uint64_t opened = pool_.opened(); std::exchange(walks_learnt_, opened) != opened) walks_.clear();
  return walks_;
}

Result<StoreStatus> PostgresStore::status() {
  const std::scoped_lock lock{walks_mutex_};
  return in_snapshot(pool_, options_.longest_statement, [&](pq::Connection& connection) {
    return Count{connection, current_walks()}.all();
  });
}

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
