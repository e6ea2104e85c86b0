// Worker: claims a batch, has it dispatched to the handlers, and again.
//
// Thread-safety: none; one worker per thread. Any number of workers may share a store and its handlers.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include "runtime/dispatcher.hpp"
#include "runtime/work.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

struct WorkerOptions {
  Generation generation = kFirstGeneration;
  std::string identity;  ///< unique per process start; see host::worker_identity()
  int batch_min = 10;    ///< size of the first claim, and again after one that was not full
  int batch_max = 100;   ///< full batches double up to this
  Duration ttl = std::chrono::seconds{300};
  Duration batch_time = std::chrono::seconds{1};  ///< a batch of slow handlers is made no longer than this
  std::function<double()> uniform01;              ///< random numbers in [0, 1) for the jitter; from any thread
  int settle_attempts = 5;        ///< rounds that try to settle a batch before its claims are left to expire
  bool record_successes = false;  ///< in the attempt log, also of events that are delivered at their first attempt
  TestPoint at;

  /// The error names the member.
  [[nodiscard]] Result<void> validate() const;
};

class Worker {
 public:
  /// What the environment refers to outlives the worker. `options` are valid.
  Worker(const DispatchEnvironment& environment, const telemetry::Logger& logger, WorkerOptions options);

  /// Claims and processes one batch. What could not be settled is kept, and settled before anything new
  /// is claimed. A report without claimed events means that nothing is claimable right now.
  ///
  /// `busy` is called when something was claimed, before it is handled.
  Result<StepReport> step(const std::stop_token& abandon = {}, const std::function<void(bool full)>& busy = {});

  /// How long the last claim took.
  [[nodiscard]] Duration claim_took() const { return claim_took_; }

  /// Settles what an earlier round could not, if anything: the last thing before a stop.
  Result<StepReport> finish() { return dispatcher_.settle_rest(); }

 private:
  void adapt(std::size_t claimed, Duration took);

  store::Claiming& store_;
  Tracer* tracer_;  // none: nothing is traced
  WorkerOptions options_;
  store::ClaimRequest request_;
  Dispatcher dispatcher_;
  ClaimObserver observer_;
  int batch_size_;
  Duration claim_took_{};
  double microseconds_per_event_ = 0.0;
};

}  // namespace sluice::runtime
