#include "runtime/backoff.hpp"

#include <algorithm>

namespace sluice::runtime {

Backoff::Backoff(BackoffLimits limits) : limits_(limits), next_(std::min(limits.first, limits.cap)) {}

Duration Backoff::next() {
  const Duration rest = next_;
  next_ = rest > limits_.cap / 2 ? limits_.cap : rest * 2;
  return rest;
}

void Backoff::reset() { next_ = std::min(limits_.first, limits_.cap); }

}  // namespace sluice::runtime
