// Supervisor: the runtime of one process that delivers. It has one listener, presence, claim keeper, reaper, retention
// and patrol, and below them a pool of workers for each group of handlers.
//
// Thread-safety: wake(), request_stop() and the readers may be called from any thread; the rest from the
// owner's.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "broker/broker.hpp"
#include "runtime/claim_keeper.hpp"
#include "runtime/handler_set.hpp"
#include "runtime/history.hpp"
#include "runtime/ladder.hpp"
#include "runtime/listener.hpp"
#include "runtime/notifier.hpp"
#include "runtime/patrol.hpp"
#include "runtime/reaper.hpp"
#include "runtime/retention.hpp"
#include "runtime/service.hpp"
#include "runtime/work.hpp"
#include "runtime/worker_pool.hpp"
#include "store/store.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

/// A broker that carries deliveries while the switch says so. The same in every process of an installation.
struct BrokerTerms {
  broker::Broker* broker = nullptr;              ///< outlives the supervisor; none: this process consumes from none
  std::string kind;                              ///< nats, redis
  int shards = 16;                               ///< of events with an ordering key
  Duration ack_wait = std::chrono::seconds{60};  ///< a message that is not settled or renewed for so long comes again
  int max_unsettled = 1000;                      ///< messages under way per handler, among all processes
  bool relay = false;                            ///< this process also relays
  int relay_workers = 2;
  int relay_batch = 500;
};

struct SupervisorOptions {
  WorkerOptions worker;
  int workers = 1;  ///< threads that claim, where there is one pool; at least 1
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
  Duration ladder_interval = std::chrono::minutes{10};  ///< between two samples of what tells which step is due
  Duration history_interval = std::chrono::minutes{1};  ///< between two writes of what was delivered
  BackoffLimits backoff;                                ///< rests after an error of the store
  FailureListener on_failed;
  BrokerTerms broker;
  /// Who wakes the pools, where others announce work as well; it outlives the supervisor. None: its own.
  Notifier* notifier = nullptr;
  /// Where the threads report to; it outlives the supervisor. None: to metrics of its own, which nobody but the
  /// ladder's history sees.
  telemetry::MetricSet* metrics = nullptr;
  Tracer* tracer = nullptr;  ///< outlives the supervisor; none: nothing is traced

  /// The error names the member.
  [[nodiscard]] Result<void> validate() const;
};

class Supervisor {
 public:
  /// Registers the subscriptions and starts the threads. The store outlives the supervisor.
  static Result<std::unique_ptr<Supervisor>> start(store::Store& store, std::vector<PoolOptions> pools,
                                                   const telemetry::Logger& logger, SupervisorOptions options);
  /// The same with one pool.
  static Result<std::unique_ptr<Supervisor>> start(store::Store& store, HandlerSet handlers,
                                                   const telemetry::Logger& logger, SupervisorOptions options);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Something may be claimable: one worker of each pool looks at once.
  void wake() { notifier_.announce(); }

  /// Nothing new is claimed from now on; what is in flight is finished and settled.
  void request_stop();

  /// Waits for the workers, at most for the drain timeout; then asks running handlers to stop, gives
  /// back what has not begun, and waits for the handlers to return. Returns at once when that was done
  /// before.
  void join();

  /// What the workers have done since the start.
  [[nodiscard]] StepReport totals() const;
  /// Why the latest round of a worker failed; none: it did not. While there is one, its pool may deliver nothing.
  [[nodiscard]] std::optional<Error> trouble() const;
  [[nodiscard]] ListenerState listener_state() const { return listener_.state(); }
  [[nodiscard]] ListenerCounts listener_counts() const { return listener_.counts(); }

 private:
  Supervisor(store::Store& store, std::vector<PoolOptions> pools, const telemetry::Logger& logger,
             SupervisorOptions options);

  [[nodiscard]] PoolEnvironment pool_environment();
  void add_consumers(const PoolOptions& pool);
  void add_relay();
  [[nodiscard]] std::vector<WorkerPool*> all_pools() const;
  [[nodiscard]] bool lacks_broker() const;
  void note_relay();
  Result<void> subscribe();
  Result<void> register_here();
  void sign_off();
  void launch_services();
  Service reaper_service();
  Service retention_service();
  Service patrol_service();
  Service ladder_service();
  Service history_service();
  Service keeper_service();
  Service presence_service();
  void launch(Service service);
  void launch(Service service, WakeSignal& signal);
  void attend(bool pool_is_busy);
  [[nodiscard]] const RegisteredHandler* find(const std::string& handler_name) const;
  [[nodiscard]] std::optional<std::string> pool_of(const std::string& handler_name) const;

  store::Store& store_;
  telemetry::Logger logger_;
  telemetry::Registry own_registry_;
  telemetry::MetricSet own_metrics_{own_registry_};  // for who brings none
  SupervisorOptions options_;
  std::vector<Subscription> subscriptions_;  // of all pools
  std::vector<std::string> handler_names_;   // of all pools
  RegistryView registry_;
  ClaimKeeper keeper_;
  WakeSignal nothing_;           // never woken: for services that only the clock wakes
  WakeSignal listener_changed_;  // for what tells others of it
  Notifier own_notifier_;
  Notifier& notifier_;
  Listener listener_;
  std::stop_source abandon_;  // asked for when the drain timeout has passed
  std::mutex mutex_;          // guards the count
  std::size_t busy_pools_ = 0;
  bool departed_ = false;
  store::RelaySwitch seen_relay_;                          // by the presence service
  std::vector<std::unique_ptr<WorkerPool>> pools_;         // they use everything above
  std::vector<std::unique_ptr<WorkerPool>> broker_pools_;  // consumers and the relay
  std::vector<std::jthread> services_;                     // last: they use the pools, too
};

/// The channels that a process with these subscriptions listens on: its generation's, and one per processing class.
std::vector<std::string> listening_channels(Generation generation, const std::vector<Subscription>& subscriptions);

}  // namespace sluice::runtime
