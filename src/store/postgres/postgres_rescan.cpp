#include <algorithm>
#include <utility>

#include "core/try.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"
#include "store/postgres/route_pattern.hpp"

namespace sluice::store {
namespace {

// A rescan costs as much as the gap is wide, and the gap is as wide as the oldest writing transaction is old.
// However wide, rescans take a quarter of the time at most.
constexpr int kRestAfterLook = 4;
constexpr auto kSoon = std::chrono::milliseconds{20};
// So many numbers are dear to read, whatever the last rescan took: it may have been short, or in an earlier life.
constexpr std::int64_t kWide = 20'000;

Duration since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - start);
}

}  // namespace

// What lies behind the head: committed late, passed over, left by whoever died. The server reads it and moves the low
// mark; nothing that this process believes has a part in that. One thread of the process reads everything at a time;
// the others read the numbers that nobody had, where they are known, or leave it to that thread.
Result<std::vector<ClaimedEvent>> PostgresStore::claim_behind(const std::string& key, const ClaimRequest& request,
                                                              ScanGroup& group, int limit, bool about_to_rest) {
  Rescan rescan;
  std::optional<ScanGroup::Holes> holes;
  {
    const std::scoped_lock lock{mutex_};
    // While there is work, what came since the last rescan is in the hands of others.
    rescan = {group.learnt, group.low, about_to_rest ? group.stretches.head() : group.looked_upto};
    rescan.dear = group.spent > options_.dear_look || rescan.upto - rescan.from > kWide;
    if (group.holes && (group.scanning || rescan.start < group.holes->until)) holes = group.holes;
    if (!holes && group.scanning) {
      group.owed = true;
      return std::vector<ClaimedEvent>{};
    }
    if (!holes) {
      group.scanning = true;
      // Meanwhile the others go on with the numbers that nobody had, where those are known.
      group.not_before =
          rescan.start + (group.holes ? group.pause : std::max<Duration>(kSoon, options_.sweep_interval));
    }
  }
  if (holes) return glance_behind(request, group, limit, *std::move(holes), rescan.upto);
  Result<std::vector<ClaimedEvent>> events = scan_behind(key, request, group, limit, rescan);
  const std::scoped_lock lock{mutex_};
  group.scanning = false;
  return events;
}

Result<std::vector<ClaimedEvent>> PostgresStore::scan_behind(const std::string& key, const ClaimRequest& request,
                                                             ScanGroup& group, int limit, const Rescan& rescan) {
  std::optional<ScanGroup::Holes> holes;
  if (rescan.dear) {
    SLUICE_TRY(holes, read_holes(request.generation, rescan.from, rescan.upto));
  }
  pq::Params params;
  params.text(std::string_view{key}).int8(request.generation).texts_or_null(route_patterns(request.interests));
  SLUICE_TRY(const pq::Rows rows, run(writing(pg_sql::cursor_advance), params));
  const std::int64_t low = rows.int8(0, 0);
  const std::optional<std::int64_t> first_open = rows.is_null(0, 1) ? std::nullopt : std::optional{rows.int8(0, 1)};
  const bool busy = rows.boolean(0, 3);

  std::vector<ClaimedEvent> events;
  bool refused = false;
  if (first_open && *first_open <= rescan.upto) {
    const Stretch behind{*first_open - 1, rescan.upto};
    // Who rescans instead of going ahead takes what is due, too: it goes first.
    SLUICE_TRY(Taken taken, limit == request.limit ? take_due_first(key, request, behind, limit, {})
                                                   : take(request, behind, limit, false, {}, kEver));
    refused = taken.looked_at_nothing();
    events = std::move(taken.events);
  }
  const std::scoped_lock lock{mutex_};
  if (!still_known(group, rescan.learnt)) return events;
  const bool moved = low > group.low;
  const int found = static_cast<int>(events.size());
  group.low = std::max(group.low, low);
  // What lies ahead of the head is nobody's yet: claims in stretches get it for less.
  group.looked_upto = std::min(rows.int8(0, 2), group.stretches.head());
  if (!busy) {
    const auto end = std::chrono::steady_clock::now();
    group.spent = std::chrono::duration_cast<Duration>(end - rescan.start);
    // All that could be claimed behind the head was: from here on only what is committed late, or comes now, can be
    // missing.
    group.holes.reset();
    if (holes && found < limit && !refused) {
      holes->until = end + (moved ? kRestAfterLook : kRestAfterDearLook) * (end - rescan.start);
      group.holes = std::move(holes);
    }
  }
  // The next ones are cheap where the numbers that nobody had are known.
  looked_back(group, rescan.start, group.holes ? Duration{} : since(rescan.start), moved, found, limit);
  return events;
}

// Under mutex_.
void PostgresStore::looked_back(ScanGroup& group, std::chrono::steady_clock::time_point start, Duration spent,
                                bool moved, int found, int limit) {
  // Soon again while low follows or something was found; ever later while a transaction holds it back.
  group.pause = moved || found > 0
                    ? kSoon
                    : std::clamp<Duration>(2 * group.pause, kSoon, std::max<Duration>(kSoon, options_.sweep_interval));
  group.not_before = start + std::max(group.pause, kRestAfterLook * spent);
  group.next_look = start + options_.sweep_interval;
  group.more_behind = found >= limit;
  group.owed = options_.sweep_interval > Duration::zero() && group.low < group.stretches.head();
}

Result<std::optional<PostgresStore::ScanGroup::Holes>> PostgresStore::read_holes(Generation generation,
                                                                                 std::int64_t low, std::int64_t upto) {
  const Result<pq::Rows> rows = run(reading(pg_sql::claim_holes), pq::Params{}.int8(generation).int8(low).int8(upto));
  if (!rows) return rows.error();
  // So many are no help; core.claim_holes stops there.
  if (rows->size() >= kMostNext) return std::optional<ScanGroup::Holes>{};
  ScanGroup::Holes holes{.read_upto = upto};
  for (int row = 0; row < rows->size(); ++row) {
    holes.after.push_back(rows->int8(row, 0));
    holes.upto.push_back(rows->int8(row, 1));
  }
  return std::optional{std::move(holes)};
}

// A rescan of the numbers that nobody had, and at those above them.
Result<std::vector<ClaimedEvent>> PostgresStore::glance_behind(const ClaimRequest& request, ScanGroup& group, int limit,
                                                               ScanGroup::Holes holes, std::int64_t upto) {
  const auto start = std::chrono::steady_clock::now();
  holes.after.push_back(holes.read_upto);
  holes.upto.push_back(upto);
  pq::Params params;
  params.int8(request.generation);
  add_numbers(params, holes.after);
  add_numbers(params, holes.upto);
  params.texts_or_null(route_patterns(request.interests));
  const Result<pq::Rows> rows = run(reading(pg_sql::claim_late), params);
  if (!rows) return rows.error();
  std::vector<ClaimedEvent> events;
  if (!rows->empty()) {
    const std::vector<std::int64_t> late = pq::collect(*rows, [&](int row) { return rows->int8(row, 0); });
    // No stretch: nothing but these.
    Result<Taken> taken = take(request, {upto, upto}, limit, false, late, kEver);
    if (!taken) return std::move(taken).error();
    events = std::move(taken->events);
  }
  const std::scoped_lock lock{mutex_};
  group.looked_upto = group.stretches.head();
  looked_back(group, start, since(start), false, static_cast<int>(events.size()), limit);
  return events;
}

bool PostgresStore::look_back_first(ScanGroup& group) {
  const std::scoped_lock lock{mutex_};
  return std::exchange(group.more_behind, false);
}

// A busy worker rescans about once a second; one that is about to rest does so before, because nobody will
// notify for what has notified already.
bool PostgresStore::wants_look_back(ScanGroup& group, bool about_to_rest, int room) {
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock{mutex_};
  if (group.low >= group.stretches.head()) {
    group.owed = false;
    return false;
  }
  if (now >= (about_to_rest ? group.not_before : group.next_look) || options_.sweep_interval == Duration::zero()) {
    // The next claim has room.
    group.more_behind = room <= 0;
    return room > 0;
  }
  if (!about_to_rest) return false;
  group.owed = true;
  return false;
}

// When the next rescan is owed to somebody with these handlers who rests, if it is. What is owed to others is no reason
// to wake: each would claim in vain, again and again, until the one that it is owed to has had its turn.
std::optional<Duration> PostgresStore::owed_look(Generation generation, const std::vector<std::string>& handlers) {
  const std::vector<std::string> asking = sorted(handlers);
  const auto now = std::chrono::steady_clock::now();
  std::optional<Duration> soonest;
  const std::scoped_lock lock{mutex_};
  for (const auto& [key, group] : scan_groups_) {
    const bool own = asking.empty() || group.users.contains(asking);
    if (!group.owed || !own || !is_of_generation(key, generation)) continue;
    const auto left = std::chrono::duration_cast<Duration>(std::max(group.not_before - now, now - now));
    if (!soonest || left < *soonest) soonest = left;
  }
  for (const auto& [key, due] : due_looks_) {
    const bool own = asking.empty() || due.handlers == asking;
    if (!due.owed || !own || !is_of_generation(key, generation)) continue;
    const auto left = std::chrono::duration_cast<Duration>(std::max(due.next() - now, now - now));
    if (!soonest || left < *soonest) soonest = left;
  }
  return soonest;
}

}  // namespace sluice::store
