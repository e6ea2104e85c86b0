#include "store/postgres/pending_reader.hpp"

#include <algorithm>
#include <set>

#include "core/try.hpp"
#include "store/diagnosis.hpp"

namespace sluice::store {
namespace {

constexpr auto kMostRemembered = static_cast<std::size_t>(kGaugeLook);
constexpr auto kOneMore = static_cast<std::int32_t>(kGaugeLook) + 1;  // tells "all" from "at least"
constexpr std::int32_t kMostReadAtOnce = 10 * kOneMore;               // of all generations

/// Rows of gauge_scan.sql: one sums up, the others are numbers.
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

}  // namespace

Result<pq::Rows> PendingReader::run(const pg_sql::Query& query, const pq::Params& params) {
  return connection_.run(reading(query), params);
}

Result<std::vector<PendingReader::Part>> PendingReader::read(PendingWalk::Reach reach) {
  auto parts = begin(reach);
  if (!parts) return parts;
  if (reach == PendingWalk::Reach::the_end && is_much(*parts)) {
    SLUICE_CHECK(read_all(*parts));
  }
  for (auto& [generation, walk] : walks_) {
    // What one statement has read needs no probe.
    if (!walk.look_above()) continue;
    SLUICE_CHECK(reopen(generation, walk));
    SLUICE_CHECK(walk_on(generation, walk));
  }
  return parts;
}

/// The generations; each has a walk afterwards.
Result<std::vector<PendingReader::Part>> PendingReader::begin(PendingWalk::Reach reach) {
  SLUICE_TRY(const pq::Rows rows, run(pg_sql::gauge_generations));
  std::vector<Part> parts;
  std::set<Generation> found;
  for (int row = 0; row < rows.size(); ++row) {
    const Part part{rows.int8(row, 0), rows.int8(row, 1), rows.int8(row, 4)};
    const std::int64_t scanned = rows.is_null(row, 2) ? 0 : rows.int8(row, 2);
    oldest_running_ = rows.int8(row, 3);
    walks_.try_emplace(part.generation, scanned, kMostRemembered).first->second.begin(reach);
    found.insert(part.generation);
    parts.push_back(part);
  }
  std::erase_if(walks_, [&](const auto& walk) { return !found.contains(walk.first); });
  return parts;
}

/// Whether the probes that are to be made would cost more than reading the table once. Measured: a row costs a probe
/// more than twice as much.
bool PendingReader::is_much(const std::vector<Part>& parts) const {
  if (parts.empty()) return false;
  std::int64_t unread = 0;
  std::int64_t newest = 0;
  std::int64_t oldest = parts.front().oldest;
  for (const Part& part : parts) {
    unread += walks_.at(part.generation).unread(part.oldest, part.newest);
    newest = std::max(newest, part.newest);
    oldest = std::min(oldest, part.oldest);
  }
  return 2 * unread > newest - oldest + 1;
}

Result<void> PendingReader::read_all(const std::vector<Part>& parts) {
  SLUICE_TRY(const pq::Rows rows, run(pg_sql::pending_all, pq::Params{}.int4(kMostReadAtOnce)));
  if (rows.size() >= kMostReadAtOnce) return {};
  std::map<Generation, std::vector<std::int64_t>> pending;
  for (int row = 0; row < rows.size(); ++row) pending[rows.int8(row, 0)].push_back(rows.int8(row, 1));
  for (const Part& part : parts) {
    std::vector<std::int64_t>& numbers = pending[part.generation];
    std::sort(numbers.begin(), numbers.end());
    walks_.at(part.generation).read_all(part.newest, numbers);
  }
  return {};
}

Result<PendingLook> PendingReader::look(Generation generation, std::int64_t above, std::optional<std::int64_t> upto) {
  pq::Params params;
  params.int8(generation).int8(above).int8(upto);
  params.int4(static_cast<std::int32_t>(PendingWalk::kLookRows)).int4(kOneMore);
  SLUICE_TRY(const pq::Rows rows, run(pg_sql::gauge_scan, params));
  return look_of(rows);
}

/// What the walk found pending before is looked at again.
Result<void> PendingReader::reopen(Generation generation, PendingWalk& walk) {
  if (walk.remembered().empty()) return {};
  pq::Params params;
  params.int8(generation);
  add_numbers(params, walk.remembered());
  SLUICE_TRY(const pq::Rows rows, run(pg_sql::gauge_still_pending, params));
  std::optional<Timestamp> oldest;
  for (int row = 0; row < rows.size(); ++row) {
    oldest = std::min(oldest.value_or(rows.timestamptz(row, 1)), rows.timestamptz(row, 1));
  }
  walk.reopen(pq::collect(rows, [&](int row) { return rows.int8(row, 0); }), oldest);
  return {};
}

/// Ahead, and through the history or a part of it.
Result<void> PendingReader::walk_on(Generation generation, PendingWalk& walk) {
  while (const auto above = walk.look_above()) {
    SLUICE_TRY(const auto seen, look(generation, *above, std::nullopt));
    walk.looked(seen);
  }
  while (const auto history = walk.history()) {
    SLUICE_TRY(const auto seen, look(generation, history->above, history->upto));
    walk.looked_at_history(seen);
  }
  return {};
}

std::optional<EventNumbers> PendingReader::found() const {
  EventNumbers found;
  for (const auto& [generation, walk] : walks_) {
    if (!walk.complete()) return std::nullopt;
    for (const std::int64_t number : walk.found()) found.add(generation, number);
  }
  return found;
}

Result<Timestamp> PendingReader::end() {
  SLUICE_TRY(const pq::Rows horizon, run(pg_sql::gauge_horizon));
  for (auto& [generation, walk] : walks_) walk.end({oldest_running_, horizon.int8(0, 1) - 1});
  return horizon.timestamptz(0, 0);
}

}  // namespace sluice::store
