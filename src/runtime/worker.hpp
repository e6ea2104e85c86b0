// Worker: claims a batch, delivers it through a sink and settles what core decides.
//
// Thread-safety: none; one worker per thread. Any number of workers may share a store and a sink.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/retry_policy.hpp>
#include "runtime/settler.hpp"
#include "runtime/step_report.hpp"
#include "sink/sink.hpp"
#include "store/store.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

struct WorkerOptions {
  Generation generation = kFirstGeneration;
  std::string identity;                     ///< unique per process start; see worker_identity()
  std::string handler_name = "sluice.log";  ///< under which deliveries are recorded in event_handled
  int batch_min = 10;                       ///< size of the first claim, and again after one that was not full
  int batch_max = 100;                      ///< full batches double up to this
  Duration ttl = std::chrono::seconds{300};
  RetryPolicy retry;
  std::function<double()> uniform01;  ///< random numbers in [0, 1) for the jitter; from any thread
  int settle_attempts = 5;            ///< rounds that try to settle a batch before its claims are left to expire

  /// The error names the member.
  [[nodiscard]] Result<void> validate() const;
};

class Worker {
 public:
  /// The references outlive the worker. `options` are valid.
  Worker(store::Claiming& store, sink::Sink& sink, const telemetry::Logger& logger, WorkerOptions options);

  /// One round. A batch whose settle failed is kept, and settled before anything new is claimed. A
  /// report without claimed events means that nothing is claimable right now.
  Result<StepReport> step();

  /// Settles what an earlier round could not, if anything: the last thing before a stop.
  Result<StepReport> finish() { return settler_.settle(); }

 private:
  struct Delivery {
    std::vector<Outcome> outcomes;
    Duration took{};
  };

  Result<std::vector<store::ClaimedEvent>> claim();
  Result<std::vector<bool>> find_handled(std::span<const store::ClaimedEvent> events);
  Delivery deliver(std::span<const store::ClaimedEvent> events, const std::vector<bool>& handled);
  Attempt decide(store::ClaimedEvent event, const Outcome& outcome, bool was_handled) const;
  Result<StepReport> give_back(std::vector<store::ClaimedEvent> events, Error reason);

  store::Claiming& store_;
  sink::Sink& sink_;
  WorkerOptions options_;
  Settler settler_;
  int batch_size_;
};

}  // namespace sluice::runtime
