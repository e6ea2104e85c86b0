// Supervisor: owns the threads of one process that delivers: workers, listener, claim keeper, presence,
// reaper, retention and patrol, on one store.
//
// Thread-safety: wake(), request_stop() and the readers may be called from any thread; the rest from the
// owner's.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/backoff.hpp"
#include "runtime/claim_keeper.hpp"
#include "runtime/doorbell.hpp"
#include "runtime/failure_listener.hpp"
#include "runtime/handler_set.hpp"
#include "runtime/listener.hpp"
#include "runtime/patrol.hpp"
#include "runtime/reaper.hpp"
#include "runtime/registry_view.hpp"
#include "runtime/retention.hpp"
#include "runtime/service.hpp"
#include "runtime/vain_looks.hpp"
#include "runtime/worker.hpp"
#include "store/store.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

struct SupervisorOptions {
  WorkerOptions worker;
  int workers = 1;  ///< threads that claim; at least 1
  ListenerTimes listener;
  Duration presence_interval = std::chrono::seconds{5};  ///< between two signs of life
  Duration drain_timeout = std::chrono::seconds{30};     ///< what is not done by then is given back
  std::string declared_by;  ///< whose subscriptions these are to withdraw; see Claiming::subscribe
  /// The subscriptions are withdrawn at the end: nobody waits for these handlers while they are away.
  bool withdraw = false;
  bool reap = true;
  Duration reap_interval = std::chrono::seconds{10};
  int reap_limit = 500;
  bool sweep = true;
  Duration retention_interval = std::chrono::minutes{10};
  RetentionOptions retention;
  PatrolOptions patrol;
  BackoffLimits backoff;  ///< rests after an error of the store
  FailureListener on_failed;
  /// The policies of handlers that other supervisors of this process host: its reaper takes back their events, too.
  std::function<std::optional<RetryPolicy>(const std::string& handler_name)> retry_of;
  /// Something may be claimable for others too: the bell has rung, or events were left to handlers elsewhere. It must
  /// not block. None: nobody is told.
  std::function<void()> on_claimable;
  /// Where the threads report to; it outlives the supervisor. None: nothing is measured.
  telemetry::MetricSet* metrics = nullptr;

  /// The error names the member.
  [[nodiscard]] Result<void> validate() const;
};

class Supervisor {
 public:
  /// Registers the subscriptions and starts the threads. The store outlives the supervisor.
  static Result<std::unique_ptr<Supervisor>> start(store::Store& store, HandlerSet handlers, telemetry::Logger logger,
                                                   SupervisorOptions options);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Something may be claimable: idle workers look at once.
  void wake();

  /// Nothing new is claimed from now on; what is in flight is finished and settled.
  void request_stop();

  /// Waits for the workers, at most for the drain timeout; then asks running handlers to stop, gives
  /// back what has not begun, and waits for the handlers to return. Returns at once when that was done
  /// before.
  void join();

  /// What the workers have done since the start.
  [[nodiscard]] StepReport totals() const;
  /// Why the latest round of a worker failed; none: it did not. While there is one, nothing may be delivered.
  [[nodiscard]] std::optional<Error> trouble() const;
  [[nodiscard]] ListenerState listener_state() const { return listener_.state(); }
  [[nodiscard]] ListenerCounts listener_counts() const { return listener_.counts(); }

 private:
  Supervisor(store::Store& store, HandlerSet handlers, telemetry::Logger logger, SupervisorOptions options);

  Result<void> subscribe();
  Result<void> register_here();
  void sign_off();
  void launch_workers();
  void launch_services();
  Service worker_service(int number);
  Service reaper_service();
  Service retention_service();
  Service patrol_service();
  Service keeper_service();
  Service presence_service();
  void launch(std::vector<std::jthread>& group, Service service, Doorbell& doorbell);
  Result<Duration> idle_rest();
  void count(const StepReport& report);
  void note_trouble(std::optional<Error> trouble);
  void attend(int change);

  store::Store& store_;
  HandlerSet handlers_;
  telemetry::Logger logger_;
  SupervisorOptions options_;
  std::vector<std::string> handler_names_;
  RegistryView registry_;
  ClaimKeeper keeper_;
  Doorbell work_;  // rung by wake() and the listener; told on to on_claimable
  VainLooks vain_looks_;
  Doorbell nothing_;  // never rung: for services that only the clock wakes
  Listener listener_;
  std::stop_source abandon_;  // asked for when the drain timeout has passed
  mutable std::mutex mutex_;
  std::condition_variable finished_;
  int running_ = 0;  // workers whose thread has not ended
  int busy_ = 0;     // workers that handle something
  StepReport totals_;
  std::optional<Error> trouble_;
  bool departed_ = false;
  std::vector<std::jthread> services_;  // last: they use everything above
  std::vector<std::jthread> workers_;
};

/// The channels that a process with these handlers listens on: its generation's, and one per processing
/// class.
std::vector<std::string> listening_channels(Generation generation, const HandlerSet& handlers);

}  // namespace sluice::runtime
