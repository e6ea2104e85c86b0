// How long to rest after an error: doubling from `first` to `cap`, from the start again after a
// success.
#pragma once

#include <sluice/time.hpp>

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

}  // namespace sluice::runtime
