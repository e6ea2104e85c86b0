// What is not settled yet of the batches that this process has claimed, so that the last settle of one can forget its
// claim in the same transaction. A settle may fail after it has begun: until it is known to have succeeded its events
// are still claimed, and a claim that was forgotten meanwhile would never expire. Pure.
//
// Thread-safety: none; under the lock of the store.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "store/claim.hpp"

namespace sluice::store {

class OpenBatch {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  OpenBatch(std::span<const Uuid> ids, TimePoint until) : open_(ids.size()), until_(until) {
    events_.reserve(ids.size());
    for (const Uuid& id : ids) events_.push_back({id, State::open});
    std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.id < b.id; });
  }

  /// Whether the caller settles it now: nobody else does, and it is not settled yet.
  bool begin(const Uuid& id) {
    if (!change(id, State::open, State::settling)) return false;
    --open_;
    ++settling_;
    return true;
  }
  void succeeded(const Uuid& id) {
    if (change(id, State::settling, State::settled)) --settling_;
  }
  void failed(const Uuid& id) {
    if (!change(id, State::settling, State::open)) return;
    --settling_;
    ++open_;
  }
  /// Nothing is open, and nobody settles any but `own` of them.
  [[nodiscard]] bool is_finished_by(std::size_t own) const { return open_ == 0 && settling_ == own; }
  /// When the claim runs out unless it is renewed. A batch that is forgotten then, or at any time, costs its last
  /// settle a question to the server.
  [[nodiscard]] TimePoint until() const { return until_; }

 private:
  enum class State : std::uint8_t { open, settling, settled };
  struct Event {
    Uuid id;
    State state;
  };
  bool change(const Uuid& id, State from, State to) {
    const auto found = std::lower_bound(events_.begin(), events_.end(), id,
                                        [](const Event& event, const Uuid& wanted) { return event.id < wanted; });
    if (found == events_.end() || found->id != id || found->state != from) return false;
    found->state = to;
    return true;
  }

  std::vector<Event> events_;  // sorted: batches are large and settled in any order
  std::size_t open_;
  std::size_t settling_ = 0;
  TimePoint until_;
};

/// What a settle has begun, and what it does to the batches that its events come from.
struct BatchesSettling {
  std::vector<std::int64_t> finished;   ///< these are their last events
  std::vector<std::int64_t> elsewhere;  ///< claimed by another process, or forgotten here: the server has to be asked
  std::vector<std::pair<std::int64_t, Uuid>> begun;
};

class OpenBatches {
 public:
  void add(std::int64_t batch, OpenBatch open) { batches_.insert_or_assign(batch, std::move(open)); }

  BatchesSettling begin(std::span<const SettleItem> items) {
    BatchesSettling settling;
    std::map<std::int64_t, std::size_t> own;
    for (const SettleItem& item : items) {
      const auto open = batches_.find(item.claim.batch);
      if (open == batches_.end()) {
        const bool told =
            item.claim.batch == 0 || (!settling.elsewhere.empty() && settling.elsewhere.back() == item.claim.batch);
        if (!told) settling.elsewhere.push_back(item.claim.batch);
      } else if (open->second.begin(item.claim.event_id)) {
        settling.begun.emplace_back(item.claim.batch, item.claim.event_id);
        ++own[item.claim.batch];
      }
    }
    for (const auto& [batch, count] : own) {
      if (batches_.at(batch).is_finished_by(count)) settling.finished.push_back(batch);
    }
    return settling;
  }

  /// Returns the batches of which nothing is left and whose claim the settle did not forget, because others were at it.
  std::vector<std::int64_t> succeeded(const BatchesSettling& settling) {
    for (const std::int64_t batch : settling.finished) batches_.erase(batch);
    std::vector<std::int64_t> left;
    for (const auto& [batch, id] : settling.begun) {
      const auto open = batches_.find(batch);
      if (open == batches_.end()) continue;
      open->second.succeeded(id);
      if (!open->second.is_finished_by(0)) continue;
      left.push_back(batch);
      batches_.erase(open);
    }
    return left;
  }

  void failed(const BatchesSettling& settling) {
    for (const auto& [batch, id] : settling.begun) {
      if (const auto open = batches_.find(batch); open != batches_.end()) open->second.failed(id);
    }
  }

  void forget_expired(OpenBatch::TimePoint now) {
    std::erase_if(batches_, [&](const auto& entry) { return entry.second.until() < now; });
  }
  [[nodiscard]] std::size_t size() const { return batches_.size(); }

 private:
  std::map<std::int64_t, OpenBatch> batches_;
};

}  // namespace sluice::store
