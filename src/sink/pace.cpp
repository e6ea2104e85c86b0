#include "sink/pace.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <utility>

namespace sluice::sink {

RateLimiter::RateLimiter(double per_second)
    : per_second_(per_second), capacity_(std::max(per_second, 1.0)), tokens_(capacity_) {
  assert(per_second > 0);
}

std::size_t RateLimiter::take(std::size_t wanted, TimePoint now) {
  if (filled_ == TimePoint{}) filled_ = now;
  const std::chrono::duration<double> passed = std::max(now - filled_, TimePoint::duration::zero());
  filled_ = std::max(filled_, now);
  tokens_ = std::min(capacity_, tokens_ + passed.count() * per_second_);
  const auto whole = static_cast<std::size_t>(tokens_);
  const std::size_t taken = std::min(wanted, whole);
  tokens_ -= static_cast<double>(taken);
  return taken;
}

Duration RateLimiter::wait(std::size_t nth) const {
  const double seconds = (static_cast<double>(nth) + 1 - tokens_) / per_second_;
  return std::chrono::ceil<Duration>(std::chrono::duration<double>{std::max(seconds, 0.0)});
}

Pace::Pace(double per_second, std::function<RateLimiter::TimePoint()> clock)
    : clock_(clock ? std::move(clock) : std::chrono::steady_clock::now) {
  if (per_second > 0) limiter_.emplace(per_second);
}

std::vector<Verdict> Pace::deliver(Events events, const Deliver& deliver) {
  if (!limiter_) return deliver(events);
  std::vector<Verdict> later;
  std::size_t now = 0;
  {
    const std::lock_guard lock{mutex_};
    now = limiter_->take(events.size(), clock_());
    for (std::size_t nth = 0; nth < events.size() - now; ++nth) {
      later.push_back(Verdict::defer_for(limiter_->wait(nth)));
    }
  }
  if (now == 0) return later;
  std::vector<Verdict> verdicts = deliver(events.first(now));
  verdicts.insert(verdicts.end(), std::make_move_iterator(later.begin()), std::make_move_iterator(later.end()));
  return verdicts;
}

}  // namespace sluice::sink
