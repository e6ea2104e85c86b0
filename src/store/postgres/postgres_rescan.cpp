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
// Of the numbers that nobody had, which cost a probe per open transaction and write nothing.
constexpr Duration kBetweenGlances = std::chrono::milliseconds{250};
// What has come since is read as it is, until there is so much of it that knowing its numbers is cheaper.
constexpr std::int64_t kMuchSince = 2'000;
// Another thread begins at the mark, for so long.
constexpr auto kLongestBeginning = std::chrono::seconds{10};
constexpr auto kWhileAnotherBegins = std::chrono::milliseconds{100};
// So many numbers are dear to read, whatever the last rescan took: it may have been short, or in an earlier life.
constexpr std::int64_t kWide = 20'000;

Duration since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - start);
}

}  // namespace

// From the mark to the first new event is as far as the oldest open transaction is old. After a reconnect all threads
// would walk it, side by side; one does, and the others take what is due meanwhile.
PostgresStore::Beginning PostgresStore::begin_ahead(ScanGroup& group) {
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock{mutex_};
  if (group.begun) return {};
  if (now < group.left_to_another) {
    group.owed = true;
    group.not_before = std::max(group.not_before, now + kWhileAnotherBegins);
    return {.elsewhere = true};
  }
  group.left_to_another = now + kLongestBeginning;
  return {.learnt = group.learnt};
}

void PostgresStore::end_beginning(ScanGroup& group, std::uint64_t learnt, bool looked) {
  const std::scoped_lock lock{mutex_};
  group.begun = looked && still_known(group, learnt);
  group.left_to_another = {};
  group.not_before = std::min(group.not_before, std::chrono::steady_clock::now());
}

Result<std::vector<ClaimedEvent>> PostgresStore::claim_due(const std::string& key, const ClaimRequest& request,
                                                           ScanGroup& group, int limit) {
  std::int64_t head = 0;
  {
    const std::scoped_lock lock{mutex_};
    head = group.stretches.head();
  }
  Result<Taken> taken = take_due_first(key, request, {head, head}, limit, {});
  if (!taken) return std::move(taken).error();
  return std::move(taken->events);
}

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
    group.scanning = group.scanning || !holes;
    // Meanwhile the others go on with the numbers that nobody had, where those are known.
    group.not_before = rescan.start + (group.holes ? group.pause : std::max<Duration>(kSoon, options_.sweep_interval));
  }
  if (holes) return glance_behind(request, group, limit, *std::move(holes), rescan);
  Result<std::vector<ClaimedEvent>> events = scan_behind(key, request, group, limit, rescan);
  const std::scoped_lock lock{mutex_};
  group.scanning = false;
  return events;
}

Result<std::vector<ClaimedEvent>> PostgresStore::scan_behind(const std::string& key, const ClaimRequest& request,
                                                             ScanGroup& group, int limit, const Rescan& rescan) {
  std::optional<ScanGroup::Holes> holes;
  if (rescan.dear) {
    SLUICE_TRY(holes, read_holes(request, rescan.from, rescan.upto));
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
  const Duration longest = group.holes ? std::min(options_.sweep_interval, kBetweenGlances) : options_.sweep_interval;
  group.pause =
      moved || found > 0 ? kSoon : std::clamp<Duration>(2 * group.pause, kSoon, std::max<Duration>(kSoon, longest));
  group.not_before = start + std::max(group.pause, kRestAfterLook * spent);
  group.next_look = start + options_.sweep_interval;
  group.more_behind = found >= limit;
  group.owed = options_.sweep_interval > Duration::zero() && group.low < group.stretches.head();
}

// None: they are too many to be of use; core.claim_holes stops there.
Result<std::optional<PostgresStore::ScanGroup::Holes>> PostgresStore::read_holes(const ClaimRequest& request,
                                                                                 std::int64_t low, std::int64_t upto) {
  pq::Params params;
  params.int8(request.generation).int8(low).int8(upto).texts_or_null(route_patterns(request.interests));
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::claim_holes), params));
  if (rows.size() >= kMostNext) return std::optional<ScanGroup::Holes>{};
  ScanGroup::Holes holes{.read_upto = upto};
  for (int row = 0; row < rows.size(); ++row) {
    holes.after.push_back(rows.int8(row, 0));
    holes.upto.push_back(rows.int8(row, 1));
  }
  return std::optional{std::move(holes)};
}

// What has come since the numbers that nobody had were read is read once, however often it is looked at.
Result<void> PostgresStore::extend_holes(const ClaimRequest& request, ScanGroup& group, ScanGroup::Holes& holes,
                                         const Rescan& rescan) {
  if (rescan.upto - holes.read_upto < kMuchSince) return {};
  SLUICE_TRY(const auto more, read_holes(request, holes.read_upto, rescan.upto));
  if (!more || holes.after.size() + more->after.size() >= kMostNext) return {};
  const std::int64_t known_upto = std::exchange(holes.read_upto, more->read_upto);
  holes.after.insert(holes.after.end(), more->after.begin(), more->after.end());
  holes.upto.insert(holes.upto.end(), more->upto.begin(), more->upto.end());
  const std::scoped_lock lock{mutex_};
  const bool same = still_known(group, rescan.learnt) && group.holes && group.holes->until == holes.until;
  if (same && group.holes->read_upto == known_upto) group.holes = holes;
  return {};
}

// A look at the numbers that nobody had, and at those above them.
Result<std::vector<ClaimedEvent>> PostgresStore::glance_behind(const ClaimRequest& request, ScanGroup& group, int limit,
                                                               ScanGroup::Holes holes, const Rescan& rescan) {
  SLUICE_CHECK(extend_holes(request, group, holes, rescan));
  holes.after.push_back(holes.read_upto);
  holes.upto.push_back(rescan.upto);
  pq::Params params;
  params.int8(request.generation);
  add_numbers(params, holes.after);
  add_numbers(params, holes.upto);
  params.texts_or_null(route_patterns(request.interests));
  SLUICE_TRY(const pq::Rows rows, run(reading(pg_sql::claim_late), params));
  std::vector<ClaimedEvent> events;
  if (!rows.empty()) {
    const std::vector<std::int64_t> late = pq::collect(rows, [&](int row) { return rows.int8(row, 0); });
    // No stretch: nothing but these.
    SLUICE_TRY(Taken taken, take(request, {rescan.upto, rescan.upto}, limit, false, late, kEver));
    events = std::move(taken.events);
  }
  const std::scoped_lock lock{mutex_};
  group.looked_upto = group.stretches.head();
  looked_back(group, rescan.start, since(rescan.start), false, static_cast<int>(events.size()), limit);
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
