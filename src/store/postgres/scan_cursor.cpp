#include "store/postgres/scan_cursor.hpp"

namespace sluice::store {
namespace {

// While something holds low back, runs gather above it. What is not remembered is looked at again.
constexpr std::size_t kMostRuns = 256;

}  // namespace

void ScanCursor::taken_whole(std::int64_t after, std::int64_t upto) {
  if (upto <= std::max(after, low_)) return;
  const auto at = std::find_if(whole_.begin(), whole_.end(), [&](const Run& run) { return run.upto >= after; });
  auto end = at;
  for (; end != whole_.end() && end->after <= upto; ++end) {
    after = std::min(after, end->after);
    upto = std::max(upto, end->upto);
  }
  if (at == end) {
    if (whole_.size() < kMostRuns || after <= low_) whole_.insert(at, {after, upto});
  } else {
    *at = {after, upto};
    whole_.erase(at + 1, end);
  }
  absorb();
}

void ScanCursor::absorb() {
  auto past = whole_.begin();
  for (; past != whole_.end() && past->after <= low_; ++past) low_ = std::max(low_, past->upto);
  whole_.erase(whole_.begin(), past);
  mark_ = std::max(mark_, low_);
}

bool ScanCursor::gap_seen(const GapView& view, std::int64_t head_at_look) {
  const bool all_ended = view.oldest_running > mark_drawn_;
  if (!all_ended) return false;
  const std::int64_t before = low_;
  // Something claimable below the mark (late, or locked by a claimer that may yet die) holds low back.
  low_ = std::max(low_, view.first_open ? std::min(mark_, *view.first_open - 1) : mark_);
  mark_ = std::max(mark_, head_at_look);
  mark_drawn_ = view.drawn;
  absorb();
  return low_ != before;
}

}  // namespace sluice::store
