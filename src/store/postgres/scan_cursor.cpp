#include "store/postgres/scan_cursor.hpp"

namespace sluice::store {

bool ScanCursor::gap_seen(const GapView& view, std::int64_t head_at_look) {
  const bool all_ended = view.oldest_running > mark_drawn_;
  if (!all_ended) return false;
  const std::int64_t before = low_;
  // Something claimable below the mark (late, or locked by a claimer that may yet die) holds low back.
  low_ = std::max(low_, view.first_open ? std::min(mark_, *view.first_open - 1) : mark_);
  mark_ = std::max(mark_, head_at_look);
  mark_drawn_ = view.drawn;
  return low_ != before;
}

}  // namespace sluice::store
