// Reaper: takes back the events of workers that went away, counting an attempt.
//
// Any number of reapers may run at once: each settle is fenced by the claim that it saw expired.
#pragma once

#include <functional>

#include <sluice/result.hpp>
#include <sluice/retry_policy.hpp>
#include "runtime/failure_listener.hpp"
#include "runtime/step_report.hpp"
#include "store/store.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

struct ReaperOptions {
  RetryPolicy retry;
  std::function<double()> uniform01;  ///< random numbers in [0, 1) for the jitter; from any thread
  FailureListener on_failed{};        ///< told the id and the error only
};

class Reaper {
 public:
  /// The references outlive the reaper.
  Reaper(store::Maintaining& expired, store::Claiming& claims, telemetry::Logger logger, ReaperOptions options);

  /// One batch of at most `limit`. In the report `claimed` is how many claims had expired.
  Result<StepReport> step(int limit);

  /// Takes back these claims as if their time had run out.
  Result<StepReport> take_back(const std::vector<store::ExpiredClaim>& claims);

 private:
  store::Maintaining& expired_;
  store::Claiming& claims_;
  telemetry::Logger logger_;
  ReaperOptions options_;
};

}  // namespace sluice::runtime
