// Deliveries at no more than a rate: what is beyond it is deferred to its turn, without an attempt.
//
// Thread-safety: any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/handler.hpp>
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

class Pace {
 public:
  using Events = std::span<const EventEnvelope>;
  using Deliver = std::function<std::vector<Verdict>(Events)>;

  /// 0: as fast as they come.
  explicit Pace(double per_second, std::function<RateLimiter::TimePoint()> clock = {});

  /// Delivers the first of them, as many as may go now, and defers the others.
  std::vector<Verdict> deliver(Events events, const Deliver& deliver);

 private:
  std::mutex mutex_;
  std::optional<RateLimiter> limiter_;
  std::function<RateLimiter::TimePoint()> clock_;
};

}  // namespace sluice::sink
