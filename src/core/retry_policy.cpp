#include <sluice/retry_policy.hpp>

#include <algorithm>
#include <cmath>

namespace sluice {

RetryPolicy RetryPolicy::inbox() {
  RetryPolicy policy;
  policy.base = std::chrono::seconds{5};
  policy.jitter = Jitter::none;
  policy.exponent_counts_attempts = true;
  return policy;
}

Result<void> RetryPolicy::validate() const {
  if (max_attempts < 1)
    return invalid("max_attempts", "max_attempts must be at least 1, not " + std::to_string(max_attempts));
  if (base <= Duration::zero()) return invalid("base", "base must be longer than zero, not " + to_text(base));
  if (!std::isfinite(multiplier) || multiplier < 1.0) {
    return invalid("multiplier", "multiplier must be a number of at least 1, not " + std::to_string(multiplier));
  }
  if (cap < base) return invalid("cap", "cap must be at least base (" + to_text(base) + "), not " + to_text(cap));
  return {};
}

Duration RetryPolicy::bound(int attempts) const {
  const int failed = std::max(attempts, 1);
  const double exponent = exponent_counts_attempts ? failed : failed - 1;
  // In floating point a growth past every integer is infinity, which the cap then cuts off.
  const double grown = static_cast<double>(base.count()) * std::pow(multiplier, exponent);
  if (!(grown < static_cast<double>(cap.count()))) return cap;
  return Duration{static_cast<Duration::rep>(grown)};
}

Duration RetryPolicy::delay(int attempts, double uniform01) const {
  const Duration longest = bound(attempts);
  if (jitter == Jitter::none) return longest;
  const double share = uniform01 > 0.0 ? std::min(uniform01, 1.0) : 0.0;
  return Duration{static_cast<Duration::rep>(static_cast<double>(longest.count()) * share)};
}

}  // namespace sluice
