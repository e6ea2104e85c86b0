// How long to rest after an error: doubling from `first` to `cap`, from the start again after a
// success.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <stop_token>

#include <sluice/time.hpp>
#include "runtime/wake_signal.hpp"

namespace sluice::runtime {

struct BackoffLimits {
  Duration first = std::chrono::seconds{1};
  Duration cap = std::chrono::seconds{30};
};

class Backoff {
 public:
  explicit Backoff(BackoffLimits limits);
  Duration next();
  void reset();

 private:
  BackoffLimits limits_;
  Duration next_;
};

/// What claims may cost that find nothing, or next to nothing. Where many events wait that nobody here wants, a claim
/// takes long, and every publish wakes: the next claim keeps a distance in proportion. So it does where a claim finds a
/// few events while more are on their way.
///
/// Thread-safety: any number of threads share one.
class IdleBackoff {
 public:
  using Clock = std::chrono::steady_clock;

  /// A claim that found nothing took this long.
  void found_nothing(Clock::duration took) {
    if (took < kCheap) return;
    const std::lock_guard lock{mutex_};
    not_before_ = Clock::now() + std::min<Clock::duration>(kShare * took, kLongest);
  }

  /// A claim that found a few events, as many as there were, took this long. When several come during one claim,
  /// claiming again at once finds fewer still for the same price: a short rest lets them gather. A single one is not
  /// kept waiting.
  void found_few(std::int64_t found, Clock::duration took) {
    if (found < kSeveral) return;
    const std::lock_guard lock{mutex_};
    not_before_ = Clock::now() + std::min<Clock::duration>(kShare * took, kLongestGathering);
  }

  /// How long until the next claim may begin.
  [[nodiscard]] Clock::duration left() const {
    const std::lock_guard lock{mutex_};
    return std::max(Clock::duration::zero(), not_before_ - Clock::now());
  }

  /// Waits until then, or until a stop is asked for.
  void wait(const std::stop_token& stop) {
    const Clock::duration rest = left();
    if (rest > Clock::duration::zero()) never_.sleep(stop, std::chrono::ceil<Duration>(rest));
  }

 private:
  static constexpr std::chrono::milliseconds kCheap{5};
  static constexpr std::chrono::milliseconds kLongest{250};
  static constexpr std::chrono::milliseconds kLongestGathering{5};
  static constexpr int kSeveral = 3;
  static constexpr int kShare = 4;  // a fifth of the time may go into claims in vain

  mutable std::mutex mutex_;
  Clock::time_point not_before_{};
  WakeSignal never_;
};

}  // namespace sluice::runtime
