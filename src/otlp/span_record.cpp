#include "otlp/span_record.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice::otlp {

void SpanQueue::add(SpanRecord span) {
  {
    const std::lock_guard lock{mutex_};
    if (spans_.size() - taken_ >= limit_) {
      ++dropped_;
      return;
    }
    spans_.push_back(std::move(span));
    if (spans_.size() - taken_ != batch_) return;
  }
  filled_.notify_one();
}

std::vector<SpanRecord> SpanQueue::take() {
  const std::lock_guard lock{mutex_};
  const auto first = spans_.begin() + static_cast<std::ptrdiff_t>(taken_);
  const auto count = std::min(batch_, spans_.size() - taken_);
  std::vector<SpanRecord> batch{std::make_move_iterator(first),
                                std::make_move_iterator(first + static_cast<std::ptrdiff_t>(count))};
  taken_ += count;
  // Moves what is left only when that is no more than what is gone.
  if (2 * taken_ >= spans_.size()) {
    spans_.erase(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
  }
  return batch;
}

void SpanQueue::wait(const std::stop_token& stop, Duration at_most) {
  std::unique_lock lock{mutex_};
  filled_.wait_for(lock, stop, at_most, [this] { return spans_.size() - taken_ >= batch_; });
}

std::size_t SpanQueue::size() const {
  const std::lock_guard lock{mutex_};
  return spans_.size() - taken_;
}

std::int64_t SpanQueue::dropped() const {
  const std::lock_guard lock{mutex_};
  return dropped_;
}

}  // namespace sluice::otlp
