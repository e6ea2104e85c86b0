// Dispatcher: takes a claimed batch through the handlers of this process and has it settled.
//
// An event runs through every hosted handler that is subscribed to it and has not handled it yet; each
// succeeds or fails for itself. Handlers that want their effect exactly once come last, because their
// transaction also settles the event.
//
// Thread-safety: none; one per worker thread.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include <sluice/result.hpp>
#include "runtime/claim_keeper.hpp"
#include "runtime/effect_runner.hpp"
#include "runtime/handler_set.hpp"
#include "runtime/settler.hpp"
#include "runtime/work.hpp"

namespace sluice::runtime {

/// What the parts of one process share.
struct DispatchEnvironment {
  store::Claiming& store;
  RegistryView& registry;
  const HandlerSet& handlers;
  ClaimKeeper& keeper;
  FailureListener on_failed{};
  telemetry::MetricSet* metrics = nullptr;        ///< none: nothing is measured
  Tracer* tracer = nullptr;                       ///< none: nothing is traced
  telemetry::DeliveryHistory* history = nullptr;  ///< as in SettlerOptions
};

struct DispatcherOptions {
  Generation generation = kFirstGeneration;
  std::function<double()> uniform01;
  Duration ttl = std::chrono::seconds{300};
  int settle_attempts = 5;
  /// What is finished is settled at least this often while slow handlers run.
  Duration settle_interval = std::chrono::milliseconds{100};
  TestPoint at;
  AttemptRules attempts{};
};

class Dispatcher {
 public:
  Dispatcher(const DispatchEnvironment& environment, const telemetry::Logger& logger, DispatcherOptions options);

  /// What a worker has claimed.
  struct Claimed {
    std::vector<store::ClaimedEvent> events;
    ClaimKeeper::TimePoint at;
    std::string span{};  ///< the traceparent of the claim; empty: none
  };
  /// Events that have not begun when `abandon` is asked for are given back.
  Result<StepReport> process(Claimed claimed, const std::stop_token& abandon);
  /// How long the latest batch was with its handlers: what would grow with the batch.
  [[nodiscard]] Duration in_handlers() const { return in_handlers_; }

  /// Settles what an earlier call could not, if anything.
  Result<StepReport> settle_rest() { return settler_.settle(); }

 private:
  struct Batch;
  Result<std::vector<Work>> plan(std::vector<store::ClaimedEvent> events, ClaimKeeper::TimePoint claimed);
  Result<void> find_handled(std::vector<Work>& works, std::span<const HandlerList> subscribed);
  void run_each(Batch& batch);
  void run_together(Batch& batch);
  Result<void> run_once(Batch& batch);
  void give_back(Batch& batch);
  void finish(Batch& batch, Work& work);
  Result<void> settle_finished(Batch& batch);

  DispatchEnvironment environment_;
  DispatcherOptions options_;
  Settler settler_;
  EffectRunner effects_;
  Duration in_handlers_{};
};

}  // namespace sluice::runtime
