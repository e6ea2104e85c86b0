// Where the claim scan stands: the brain of "every new event is found once". Pure.
//
// New events carry a number (`seq`) that is drawn before the commit, so a slow transaction may commit
// a small number late. Two marks keep the scan short and complete:
//   head  claims look above it; it jumps to the highest number that any claim has looked at;
//   low   everything at or below it has been found. It follows when every transaction that could
//         still commit a smaller number has ended, and nothing claimable lies below; and over numbers
//         that were all taken, because nothing can turn up among those any more.
// Between the two a look at the gap, about once a second, finds what came late. A cursor that is too
// old costs time, never an event.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice::store {

/// What one look at the gap saw. `oldest_running` was read before the look; `drawn` is a transaction
/// id that was assigned after it.
struct GapView {
  std::int64_t oldest_running = 0;
  std::optional<std::int64_t> first_open;
  std::int64_t drawn = 0;
};

class ScanCursor {
 public:
  explicit ScanCursor(std::int64_t low = 0) : head_(low), low_(low), mark_(low) {}

  [[nodiscard]] std::int64_t head() const { return head_; }
  [[nodiscard]] std::int64_t low() const { return low_; }

  /// How far a look at the gap has to read. While there is work, only what low may move past: each number is read
  /// once. Who is about to rest reads up to the head, because nobody will ring for what has rung already. A group that
  /// starts from nothing has its whole history before it: there the first look only sets a mark, so that the history is
  /// read once, not twice.
  [[nodiscard]] std::int64_t look_up_to(bool about_to_rest) const {
    return about_to_rest && (mark_ > low_ || low_ > 0) ? head_ : mark_;
  }

  /// A claim has looked at everything up to `seq`.
  void looked_up_to(std::int64_t seq) { head_ = std::max(head_, seq); }

  /// Every number in (after, upto] was an event, and claims have taken it.
  void taken_whole(std::int64_t after, std::int64_t upto);

  /// A look at (low, look_up_to] came back; head was at `head_at_look`. Returns true when low moved.
  bool gap_seen(const GapView& view, std::int64_t head_at_look);

 private:
  struct Run {
    std::int64_t after;
    std::int64_t upto;
  };
  void absorb();

  std::int64_t head_;
  std::int64_t low_;
  // low may move to mark_ once every transaction up to mark_drawn_ has ended. mark_drawn_ was assigned
  // after a committed event numbered mark_ was seen, so whoever drew a smaller number had an id by then.
  std::int64_t mark_;
  std::int64_t mark_drawn_ = 0;
  std::vector<Run> whole_;  // above low, ascending, apart from each other
};

}  // namespace sluice::store
