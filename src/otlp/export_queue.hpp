// The queue in which spans, or lines of the log, wait to be sent.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

#include <sluice/time.hpp>

namespace sluice::otlp {

/// A text is cut after so many bytes.
inline constexpr std::size_t kMostBytes = 2048;

/// Never makes anybody wait who has a record to give: what does not fit is dropped and counted.
///
/// Thread-safety: any number of threads add, one takes.
template <class Record>
class ExportQueue {
 public:
  /// `limit` records may wait; whoever takes is woken when `batch` of them do.
  ExportQueue(std::size_t limit, std::size_t batch) : limit_(limit), batch_(batch) {}

  void add(Record record) {
    {
      const std::lock_guard lock{mutex_};
      if (records_.size() - taken_ >= limit_) {
        ++dropped_;
        return;
      }
      records_.push_back(std::move(record));
      if (records_.size() - taken_ != batch_) return;
    }
    filled_.notify_one();
  }

  /// The oldest, a batch at most.
  std::vector<Record> take() {
    const std::lock_guard lock{mutex_};
    const auto first = records_.begin() + static_cast<std::ptrdiff_t>(taken_);
    const auto count = std::min(batch_, records_.size() - taken_);
    std::vector<Record> batch{std::make_move_iterator(first),
                              std::make_move_iterator(first + static_cast<std::ptrdiff_t>(count))};
    taken_ += count;
    // Moves what is left only when that is no more than what is gone.
    if (2 * taken_ >= records_.size()) {
      records_.erase(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(taken_));
      taken_ = 0;
    }
    return batch;
  }

  /// Waits until a batch waits, `at_most` has passed or a stop is asked for.
  void wait(const std::stop_token& stop, Duration at_most) {
    std::unique_lock lock{mutex_};
    filled_.wait_for(lock, stop, at_most, [this] { return records_.size() - taken_ >= batch_; });
  }

  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock{mutex_};
    return records_.size() - taken_;
  }
  [[nodiscard]] bool has_batch() const { return size() >= batch_; }
  [[nodiscard]] std::int64_t dropped() const {
    const std::lock_guard lock{mutex_};
    return dropped_;
  }

 private:
  const std::size_t limit_;
  const std::size_t batch_;
  mutable std::mutex mutex_;
  std::condition_variable_any filled_;
  std::vector<Record> records_;  // the first `taken_` of them are gone
  std::size_t taken_ = 0;
  std::int64_t dropped_ = 0;
};

}  // namespace sluice::otlp
