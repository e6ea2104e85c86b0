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
constexpr int kLongestPause = 8192;
// Of what is reserved at once: so many stretches, or this part of the backlog.
constexpr std::int64_t kStretches = 8;
constexpr std::int64_t kParts = 8;

}  // namespace

std::int64_t ScanStretches::stretch_length(int limit) const {
  if (swift_ && slow_for_ == 0) return limit;
  return static_cast<std::int64_t>(static_cast<double>(limit) / std::max(density_, kSparse));
}

std::optional<ScanStretches::Wish> ScanStretches::wish(int limit) const {
  const std::int64_t length = stretch_length(limit);
  if (!left_.empty() || !reserved_.empty() || density_ < kSparse || top_ - head_ < length) return std::nullopt;
  // A few stretches at a time, and never so much that others have nothing to do.
  const std::int64_t stretches = std::clamp<std::int64_t>((top_ - head_) / kParts / length, 1, kStretches);
  return Wish{head_, stretches * length, top_};
}

void ScanStretches::granted(std::int64_t after, std::int64_t length) {
  head_ = std::max(head_, after + length);
  reserved_.push_back({after, after + length});
}

Stretch ScanStretches::next(int limit) {
  if (!left_.empty()) {
    const Stretch stretch = left_.back();
    left_.pop_back();
    return stretch;
  }
  const bool swift = swift_ && slow_for_ == 0;
  if (slow_for_ > 0) --slow_for_;
  if (reserved_.empty()) return {head_, std::nullopt};
  Stretch& part = reserved_.back();
  const std::int64_t length = density_ < kSparse ? *part.upto - part.after : stretch_length(limit);
  const Stretch stretch{part.after, std::min(part.after + length, *part.upto), swift && density_ >= kSparse};
  part.after = *stretch.upto;
  if (part.after == *part.upto) reserved_.pop_back();
  return stretch;
}

void ScanStretches::seen(const Stretch& stretch, const StretchView& view) {
  if (view.top) top_ = std::max(top_, *view.top);
  // A swift claim has looked at all of it, but not at what has a key.
  const std::int64_t reached = stretch.swift ? *stretch.upto : view.looked_up_to.value_or(stretch.after);
  const bool whole = reached > stretch.after && view.found == reached - stretch.after;
  swift_ = whole && !view.keyed;
  if (!stretch.upto) {
    head_ = std::max(head_, reached);
    density_ = std::min(1.0, density_ * kRecovery);
    pause_ = kFirstPause;
    return;
  }
  if (stretch.swift && !whole) {
    left_.push_back({stretch.after, stretch.upto});
    return;
  }
  sample(view.found, reached - stretch.after);
  if (reached < *stretch.upto) left_.push_back({reached, stretch.upto});
}

void ScanStretches::failed(const Stretch& stretch) {
  if (!stretch.upto) return;
  left_.push_back({stretch.after, stretch.upto});
  if (!stretch.swift) return;
  slow_for_ = pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
}

void ScanStretches::sample(std::int64_t found, std::int64_t length) {
  if (length <= 0) return;
  const double now = std::min(1.0, static_cast<double>(found) / static_cast<double>(length));
  density_ += (now - density_) * kWeight;
}

}  // namespace sluice::store
