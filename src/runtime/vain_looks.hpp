// VainLooks: looking for work that is not there must not cost more than it may. Where many events wait that nobody
// here wants, a look takes long, and every publish rings: those who look keep a distance in proportion. So do those who
// find a few events each time while more are on their way.
//
// Thread-safety: any number of threads share one.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <stop_token>

#include "runtime/doorbell.hpp"

namespace sluice::runtime {

class VainLooks {
 public:
  using Clock = std::chrono::steady_clock;

  /// A look that found nothing took this long.
  void note(Clock::duration took) {
    if (took < kCheap) return;
    const std::lock_guard lock{mutex_};
    not_before_ = Clock::now() + std::min<Clock::duration>(kShare * took, kLongest);
  }

  /// A look that found a few events, as many as there were, took this long. When several come while one looks, looking
  /// again at once finds fewer still for the same price: a short rest lets them gather. A single one is not kept
  /// waiting.
  void note_few(std::int64_t found, Clock::duration took) {
    if (found < kSeveral) return;
    const std::lock_guard lock{mutex_};
    not_before_ = Clock::now() + std::min<Clock::duration>(kShare * took, kLongestGathering);
  }

  /// How long until the next look may begin.
  [[nodiscard]] Clock::duration left() const {
    const std::lock_guard lock{mutex_};
    return std::max(Clock::duration::zero(), not_before_ - Clock::now());
  }

  /// Waits until then, or until a stop is asked for.
  void keep_distance(const std::stop_token& stop) {
    const Clock::duration wait = left();
    if (wait > Clock::duration::zero()) bell_.sleep(stop, std::chrono::ceil<Duration>(wait));
  }

 private:
  static constexpr std::chrono::milliseconds kCheap{5};
  static constexpr std::chrono::milliseconds kLongest{250};
  static constexpr std::chrono::milliseconds kLongestGathering{5};
  static constexpr int kSeveral = 3;
  static constexpr int kShare = 4;  // a fifth of the time may go into looks in vain

  mutable std::mutex mutex_;
  Clock::time_point not_before_{};
  Doorbell bell_;  // never rung
};

}  // namespace sluice::runtime
