// WorkerPool: the worker threads of one group of handlers, say of one sink. What a slow or failing group does to its
// threads, it does to no other group's.
//
// Thread-safety: wake(), request_stop() and the readers may be called from any thread; the rest from the owner's.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/claim_keeper.hpp"
#include "runtime/handler_set.hpp"
#include "runtime/listener.hpp"
#include "runtime/notifier.hpp"
#include "runtime/service.hpp"
#include "runtime/work.hpp"
#include "runtime/worker.hpp"
#include "store/store.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

/// Where one worker's events come from, when it is not the database.
struct WorkerSource {
  std::shared_ptr<store::Claiming> claims;
  std::shared_ptr<RegistryView> registry;  ///< whose handlers decide what becomes of an event
  HandlerSet handlers;
  bool waits = false;  ///< a claim waits for events by itself, and its claims are renewed apart from the database's
};

struct PoolOptions {
  /// Stands in the names of its workers: `<process>/<name>/0`. May be empty where a process has one pool.
  std::string name;
  HandlerSet handlers;
  int workers = 1;    ///< threads that claim; at least 1
  int batch_max = 0;  ///< other than the process's; 0: the same
  /// Makes the source of each worker; none: they claim from the database, while no broker carries the deliveries.
  std::function<WorkerSource()> source{};

  /// The error names the member.
  [[nodiscard]] Result<void> validate() const;
};

/// What the pools of a process share; it outlives them.
struct PoolEnvironment {
  store::Store& store;
  RegistryView& registry;
  ClaimKeeper& keeper;
  Listener& listener;
  Notifier& notifier;
  telemetry::Logger logger;
  const WorkerOptions& worker;  ///< the identity is the process's
  BackoffLimits backoff;
  std::stop_token abandon;  ///< what has not begun is given back
  FailureListener on_failed;
  telemetry::MetricSet* metrics = nullptr;
  std::optional<Duration> renew_within{};  ///< of sources that renew apart: how long a claim lasts
  std::function<void(bool busy)> on_busy;  ///< one of its workers has found something, or none finds anything any more
  Tracer* tracer = nullptr;                ///< none: nothing is traced
  telemetry::DeliveryHistory* history = nullptr;  ///< as in SettlerOptions
};

class WorkerPool {
 public:
  /// `options` are valid.
  WorkerPool(PoolEnvironment environment, PoolOptions options);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void start();
  /// Something may be claimable: one worker looks.
  void wake() { signal_.wake_one(); }
  /// Nothing new is claimed from now on; what is in flight is finished and settled.
  void request_stop();
  /// Whether every worker had ended by then.
  bool wait_until(std::chrono::steady_clock::time_point deadline);
  void join();
  /// Asks running handlers to stop whose claims the pool renews itself.
  void stop_runs();

  [[nodiscard]] const PoolOptions& options() const { return options_; }
  /// What the workers have done since the start.
  [[nodiscard]] StepReport totals() const;
  /// Why the latest round of a worker failed; none: it did not.
  [[nodiscard]] std::optional<Error> trouble() const;

 private:
  class Round;  // what one worker thread does, again and again
  [[nodiscard]] Service service(int number);
  [[nodiscard]] Service keeper_service();
  ClaimKeeper& keeper_of(const WorkerSource& source);
  [[nodiscard]] std::string worker_name(int number) const;
  Result<Duration> idle_rest();
  void note(const Result<StepReport>& report);
  void set_busy(int change);
  void ended();

  PoolEnvironment environment_;
  PoolOptions options_;
  std::vector<std::string> handler_names_;
  WakeSignal signal_;
  IdleBackoff idle_backoff_;
  mutable std::mutex mutex_;
  std::condition_variable finished_;
  int running_ = 0;  // workers whose thread has not ended
  int busy_ = 0;     // workers that handle something
  StepReport totals_;
  std::optional<Error> trouble_;
  std::vector<std::unique_ptr<ClaimKeeper>> keepers_;  // of sources that renew apart; made before the threads run
  WakeSignal nothing_;                                 // never woken
  std::vector<std::jthread> threads_;                  // they use everything above
  std::jthread keeping_;                               // so does this; it ends after they have
  Notifier::Registration registration_;                // last: nobody wakes what is gone
};

}  // namespace sluice::runtime
