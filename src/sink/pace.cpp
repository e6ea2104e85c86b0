#include "sink/pace.hpp"

#include <chrono>
#include <utility>

namespace sluice::sink {

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
