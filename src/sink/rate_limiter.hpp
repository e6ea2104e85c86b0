// A token bucket that holds what one second lets in. Pure: the caller tells the time.
#pragma once

#include <chrono>
#include <cstddef>

#include <sluice/time.hpp>

namespace sluice::sink {

class RateLimiter {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// `per_second` > 0. A rate below one still lets in one at a time.
  explicit RateLimiter(double per_second);

  /// How many of `wanted` may go now. They are taken.
  std::size_t take(std::size_t wanted, TimePoint now);
  /// When the `nth` (0, 1, …) of those that were not taken may go, from the `now` of the last take.
  [[nodiscard]] Duration wait(std::size_t nth) const;

 private:
  double per_second_;
  double capacity_;
  double tokens_;
  TimePoint filled_{};
};

}  // namespace sluice::sink
