// How fast an operation goes on, and which others have the same events before them.
#include <algorithm>
#include <set>

#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/operations.hpp"

namespace sluice::ops {
namespace {

constexpr int kItemsAtOnce = 1000;
constexpr int kOperationsLookedAt = 50;
// Before that an average says nothing.
constexpr Duration kShortest = std::chrono::seconds{1};

/// The events of an operation that have no outcome yet, among the first kOverlapLook of its set.
Result<std::set<Uuid>> open_events(store::Administering& store, const Uuid& id) {
  std::set<Uuid> open;
  for (std::int64_t after = 0; after < kOverlapLook;) {
    SLUICE_TRY(const auto items, store.operation_items(id, kItemsAtOnce, after));
    for (const store::OperationItem& item : items) {
      if (item.state == "waiting" || item.state == "in_flight") open.insert(item.event_id);
    }
    if (items.size() < static_cast<std::size_t>(kItemsAtOnce)) break;
    after = items.back().place;
  }
  return open;
}

}  // namespace

OperationPace pace_of(const store::OperationRecord& operation, Timestamp now) {
  OperationPace pace;
  const OperationCounts& counts = operation.progress.counts;
  const std::int64_t done = counts.taken - counts.in_flight();
  // While it is paused an average would only fall.
  if (!operation.started_at || done == 0 || operation.progress.state == OperationState::paused) return pace;
  const Duration took = operation.ended_at.value_or(now) - *operation.started_at;
  if (took < kShortest) return pace;
  pace.per_second = static_cast<double>(done) / std::chrono::duration<double>(took).count();
  if (operation.progress.state != OperationState::running) return pace;
  const std::int64_t open = counts.remaining() + counts.in_flight();
  double seconds = static_cast<double>(open) / *pace.per_second;
  // The average of a canary, or of a rate that was lowered since, may be faster than what is allowed now.
  if (const int rate = operation.progress.settings.rate; rate > 0) {
    seconds = std::max(seconds, static_cast<double>(counts.remaining()) / rate);
  }
  pace.left = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  return pace;
}

Result<std::vector<Overlap>> overlaps_of(store::Administering& store, const store::OperationRecord& operation) {
  std::vector<Overlap> overlaps;
  if (operation.progress.state != OperationState::planned) return overlaps;
  SLUICE_TRY(const auto others, store.operations(kOperationsLookedAt));
  std::optional<std::set<Uuid>> own;
  for (const store::OperationRecord& other : others) {
    const OperationState state = other.progress.state;
    const bool alive = state == OperationState::running || state == OperationState::paused;
    if (!alive || other.id == operation.id) continue;
    if (!own) {
      SLUICE_TRY(own, open_events(store, operation.id));
    }
    SLUICE_TRY(const auto theirs, open_events(store, other.id));
    const auto shared = std::count_if(own->begin(), own->end(), [&](const Uuid& id) { return theirs.contains(id); });
    if (shared > 0) overlaps.push_back({other.id, other.filter, shared});
  }
  return overlaps;
}

std::string in_words(const Overlap& overlap) {
  return counted(overlap.events, "event") + (overlap.events == 1 ? " is" : " are") + " also in operation " +
         overlap.operation_id.to_string() + (overlap.filter.empty() ? "" : " (" + overlap.filter + ")") +
         ", which is under way: whichever comes first replays them, the other skips them";
}

}  // namespace sluice::ops
