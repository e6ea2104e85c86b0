#include "ops/await_event.hpp"

#include <algorithm>
#include <utility>

namespace sluice::ops {
namespace {

// Quick at first, because a first delivery takes milliseconds; then easy on the store.
constexpr Duration kFirstPause = std::chrono::milliseconds{20};
constexpr Duration kLongestPause = std::chrono::milliseconds{500};

}  // namespace

Result<Awaited> await_event(store::Administering& store, const Uuid& id, Duration timeout, const Pacing& pacing) {
  Duration pause = kFirstPause;
  while (true) {
    auto event = store.get_event(id);
    if (!event) return std::move(event).error();
    if (event->status == Status::delivered) return Awaited{Awaited::Ending::delivered, *std::move(event)};
    if (event->status == Status::failed) return Awaited{Awaited::Ending::failed, *std::move(event)};
    const Duration left = timeout - pacing.elapsed();
    if (left <= Duration::zero()) return Awaited{Awaited::Ending::timed_out, *std::move(event)};
    if (!pacing.pause(std::min(pause, left))) return Awaited{Awaited::Ending::interrupted, *std::move(event)};
    pause = std::min(pause * 2, kLongestPause);
  }
}

}  // namespace sluice::ops
