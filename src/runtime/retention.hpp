// RetentionSweep: removes what the retention policies no longer keep, in bounded batches.
#pragma once

#include <stop_token>

#include <sluice/result.hpp>
#include "store/maintain.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

struct RetentionOptions {
  RetentionPolicies policies;
  int batch_limit = 1000;  ///< rows per transaction, so that no lock is held for long
  int max_batches = 100;   ///< per step; what is left waits for the next one
};

class RetentionSweep {
 public:
  /// The store outlives the sweep.
  RetentionSweep(store::Maintaining& store, telemetry::Logger logger, RetentionOptions options);

  /// Refuses policies that would break dedup. Sweeps batch after batch until nothing is left, the
  /// maximum is reached or a stop is asked for. In the report `more` tells that rows were left. When none were, looks
  /// after the partitions and forgets bookkeeping that stands for nothing any more.
  Result<store::RetentionReport> step(const std::stop_token& stop = {});

 private:
  /// Makes the partitions of the coming months and drops those that nothing keeps. One that somebody holds waits for
  /// the next step.
  Result<void> keep_partitions(const std::stop_token& stop);

  store::Maintaining& store_;
  telemetry::Logger logger_;
  RetentionOptions options_;
};

}  // namespace sluice::runtime
