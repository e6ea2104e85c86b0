// What is not settled yet of a claimed batch. Pure.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "store/claiming.hpp"

namespace sluice::store {

class OpenBatch {
 public:
  explicit OpenBatch(std::span<const ClaimedEvent> events) : open_(events.size()) {
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

 private:
  struct Event {
    Uuid id;
    bool open;
  };
  std::vector<Event> events_;  // sorted: batches are large and settled in any order
  std::size_t open_;
};

}  // namespace sluice::store
