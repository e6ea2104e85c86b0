#include "store/postgres/scan_stretches.hpp"

#include <algorithm>

namespace sluice::store {
namespace {

// Where fewer numbers than these are wanted events (other generations, other interests), a claim looks as far as it
// must instead.
constexpr double kSparse = 0.25;
constexpr double kWeight = 0.2;
// What looks that far tells little of the density: others may have been there. Now and then a stretch is tried again.
constexpr double kRecovery = 1.01;

}  // namespace

Stretch ScanStretches::next(ScanCursor& cursor, int limit) {
  if (!left_.empty()) {
    const Stretch stretch = left_.back();
    left_.pop_back();
    return stretch;
  }
  const std::int64_t head = cursor.head();
  const auto length = static_cast<std::int64_t>(static_cast<double>(limit) / std::max(density_, kSparse));
  if (density_ < kSparse || top_ - head < length) return {head, std::nullopt};
  cursor.looked_up_to(head + length);
  return {head, head + length};
}

void ScanStretches::seen(const Stretch& stretch, const StretchView& view, ScanCursor& cursor) {
  if (view.top) top_ = std::max(top_, *view.top);
  const std::int64_t reached = view.looked_up_to.value_or(stretch.after);
  if (!stretch.upto) {
    cursor.looked_up_to(reached);
    density_ = std::min(1.0, density_ * kRecovery);
    return;
  }
  sample(view.found, reached - stretch.after);
  if (reached < *stretch.upto) left_.push_back({reached, stretch.upto});
}

void ScanStretches::failed(const Stretch& stretch) {
  if (stretch.upto) left_.push_back(stretch);
}

void ScanStretches::sample(std::int64_t found, std::int64_t length) {
  if (length <= 0) return;
  const double now = std::min(1.0, static_cast<double>(found) / static_cast<double>(length));
  density_ += (now - density_) * kWeight;
}

}  // namespace sluice::store
