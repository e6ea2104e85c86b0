// Looks at what is due: retries, what is scheduled, what waited for its key.
#include <algorithm>
#include <utility>

#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

constexpr auto kCommitsLate = std::chrono::milliseconds{250};
// As often as a look at all that is due took; what makes looks dear makes commits late.
constexpr int kCommitsLater = 4;
// Other threads leave a look at all that is due to the one that has begun it, for so long.
constexpr auto kLongestDueLook = std::chrono::seconds{10};

}  // namespace

PostgresStore::DueLook& PostgresStore::due_look(const std::string& key, const ClaimRequest& request) {
  std::string whose = key;
  for (const std::string& handler : request.handlers) whose += '#' + handler;
  const std::scoped_lock lock{mutex_};
  const auto [due, first] = due_looks_.try_emplace(whose);
  if (first) due->second = {.last = std::chrono::steady_clock::now(), .handlers = sorted(request.handlers)};
  return due->second;
}

// A look at all that is due passes by what was due before and is dead, as long as an open transaction keeps it from
// being cleaned away. However much that is, such looks take a twentieth of the time of one thread at most; in between,
// and in the other threads meanwhile, what has become due since the last one is enough, and a little before that:
// whoever wrote it may have committed after that one.
Duration PostgresStore::due_within(DueLook& due) {
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock{mutex_};
  if (options_.sweep_interval > Duration::zero() && now < due.next()) {
    return std::chrono::duration_cast<Duration>(now - due.last) + kCommitsLate + kCommitsLater * due.cost;
  }
  due.left_to_another = now + kLongestDueLook;
  due.again = false;
  return kEver;
}

// No `taken`: it failed, or was left to others. Under mutex_.
void PostgresStore::looked_at_due(DueLook& due, std::chrono::steady_clock::time_point start, Duration within,
                                  const Taken* taken) {
  if (within == kEver) due.left_to_another = due.not_before = {};
  if (taken == nullptr) return;
  due.owed = (within != kEver || due.again) && taken->events.empty();
  // Without room for new events it may not have had room for all that is due, but what became due first came first.
  if (!taken->view.looked_up_to && !taken->due_age) return;
  const auto reached = taken->view.looked_up_to ? start : start - *taken->due_age;
  due.last = within == kEver ? reached : std::max(due.last, reached);
  const auto end = std::chrono::steady_clock::now();
  if (within == kEver) due.cost = std::chrono::duration_cast<Duration>(end - start);
  // A connection that was opened meanwhile may be the first one after a crash, which undid claims behind its back.
  if (within != kEver || due.again) return;
  due.not_before = end + kRestAfterDearLook * (end - start);
}

// What is due, then what was passed over, then what is new.
Result<PostgresStore::Taken> PostgresStore::take_due_first(const std::string& key, const ClaimRequest& request,
                                                           const Stretch& stretch, int limit,
                                                           std::span<const std::int64_t> next) {
  DueLook& due = due_look(key, request);
  const Duration within = due_within(due);
  const auto start = std::chrono::steady_clock::now();
  Result<Taken> taken =
      stretch.swift ? take_swiftly(request, stretch, within) : take(request, stretch, limit, true, next, within);
  // A swift one that took nothing has left what is due to others.
  const bool looked = taken && !(stretch.swift && taken->events.empty());
  const std::scoped_lock lock{mutex_};
  looked_at_due(due, start, within, looked ? &*taken : nullptr);
  return taken;
}

}  // namespace sluice::store
