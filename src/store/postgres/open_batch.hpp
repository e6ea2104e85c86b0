// What is not settled yet of a claimed batch. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <span>
#include <vector>

#include "store/claim.hpp"

namespace sluice::store {

class OpenBatch {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  OpenBatch(std::span<const ClaimedEvent> events, TimePoint until) : open_(events.size()), until_(until) {
    events_.reserve(events.size());
    for (const ClaimedEvent& event : events) events_.push_back({event.claim.event_id, true});
    std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.id < b.id; });
  }

  /// Told twice, it counts once.
  void settled(const Uuid& id) {
    const auto found = std::lower_bound(events_.begin(), events_.end(), id,
                                        [](const Event& event, const Uuid& wanted) { return event.id < wanted; });
    if (found == events_.end() || found->id != id || !found->open) return;
    found->open = false;
    --open_;
  }
  [[nodiscard]] bool empty() const { return open_ == 0; }
  /// When the claim runs out unless it is renewed. A batch that is forgotten then, or at any time, costs its last
  /// settle a question to the server.
  [[nodiscard]] TimePoint until() const { return until_; }

 private:
  struct Event {
    Uuid id;
    bool open;
  };
  std::vector<Event> events_;  // sorted: batches are large and settled in any order
  std::size_t open_;
  TimePoint until_;
};

}  // namespace sluice::store
