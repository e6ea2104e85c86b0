#include "ops/event_watch.hpp"

#include <algorithm>
#include <utility>

#include "core/try.hpp"

namespace sluice::ops {
namespace {

// Quick at first, because a first delivery takes milliseconds; then easy on the store.
constexpr Duration kFirstPause = std::chrono::milliseconds{20};
constexpr Duration kLongestPause = std::chrono::milliseconds{500};

}  // namespace

Result<Awaited> await_event(store::Administering& store, const Uuid& id, Duration timeout, const Pacing& pacing) {
  Duration pause = kFirstPause;
  while (true) {
    SLUICE_TRY(auto event, store.get_event(id));
    if (event.status == Status::delivered) return Awaited{Awaited::Ending::delivered, std::move(event)};
    if (event.status == Status::failed) return Awaited{Awaited::Ending::failed, std::move(event)};
    const Duration left = timeout - pacing.elapsed();
    if (left <= Duration::zero()) return Awaited{Awaited::Ending::timed_out, std::move(event)};
    if (!pacing.pause(std::min(pause, left))) return Awaited{Awaited::Ending::interrupted, std::move(event)};
    pause = std::min(pause * 2, kLongestPause);
  }
}

Result<std::vector<store::EventRecord>> EventTail::next(store::Administering& store, int first) {
  SLUICE_TRY(auto page, store.list_events(filter_, kWatched, std::nullopt));
  std::map<std::int64_t, Seen> now;
  std::vector<store::EventRecord> changed;
  for (store::EventRecord& event : page.events) {
    const Seen state{event.status, event.claim_seq, event.deleted_at.has_value()};
    now.emplace(event.seq, state);
    const auto before = seen_.find(event.seq);
    const bool is_news = begun_ ? before == seen_.end() || before->second != state
                                : changed.size() < static_cast<std::size_t>(std::max(first, 0));
    if (is_news) changed.push_back(std::move(event));
  }
  seen_ = std::move(now);
  begun_ = true;
  std::reverse(changed.begin(), changed.end());
  return changed;
}

}  // namespace sluice::ops
