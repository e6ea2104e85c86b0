// Deliveries at no more than a rate: what is beyond it is deferred to its turn, without an attempt.
//
// Thread-safety: any thread.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/handler.hpp>
#include "sink/rate_limiter.hpp"

namespace sluice::sink {

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
