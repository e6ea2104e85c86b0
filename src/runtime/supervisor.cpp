#include "runtime/supervisor.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/try.hpp"
#include "host/entropy.hpp"

namespace sluice::runtime {

namespace {

// Signs of life that may be missed before a worker counts as gone.
constexpr int kAliveIntervals = 6;
constexpr auto kPatrolAfterStart = std::chrono::seconds{10};
Result<void> check_positive(Duration duration, const char* field) {
  if (duration > Duration::zero()) return {};
  return invalid(field, std::string{field} + " must be longer than zero");
}

// For expired claims of handlers that are hosted elsewhere: whoever hosts them may be as patient as the most patient
// one here, and a process whose own handlers have one attempt fails nobody else's events after one.
RetryPolicy reaper_policy(const std::vector<std::unique_ptr<WorkerPool>>& pools) {
  std::optional<RetryPolicy> policy;
  for (const auto& pool : pools) {
    const HandlerSet& handlers = pool->options().handlers;
    for (const std::string& name : handlers.names()) {
      const RetryPolicy& own = handlers.find(name)->retry;
      if (!policy || own.max_attempts > policy->max_attempts) policy = own;
    }
  }
  RetryPolicy patient = policy.value_or(RetryPolicy::standard());
  patient.max_attempts = std::max(patient.max_attempts, RetryPolicy::standard().max_attempts);
  return patient;
}

std::vector<Subscription> subscriptions_of(const std::vector<PoolOptions>& pools) {
  std::vector<Subscription> all;
  for (const PoolOptions& pool : pools) {
    for (Subscription& one : pool.handlers.subscriptions()) all.push_back(std::move(one));
  }
  return all;
}

std::vector<std::string> names_of(const std::vector<Subscription>& subscriptions) {
  std::vector<std::string> names;
  for (const Subscription& one : subscriptions) names.push_back(one.handler_name);
  std::sort(names.begin(), names.end());
  return names;
}

// The relay waits for what is published to its generation, whoever subscribes to it.
std::vector<std::string> heard_channels(const SupervisorOptions& options, std::vector<Subscription> subscriptions) {
  if (options.broker.relay) subscriptions.emplace_back();
  return listening_channels(options.worker.generation, subscriptions);
}

Result<void> check_pools(const std::vector<PoolOptions>& pools, bool relays) {
  if (pools.empty() && !relays) return invalid("handlers", "there is no handler to deliver to: register one first");
  std::set<std::string> names;
  for (const PoolOptions& pool : pools) {
    SLUICE_CHECK(pool.validate());
    if (!names.insert(pool.name).second) return invalid("name", "there are two pools of the name " + pool.name);
  }
  const std::vector<std::string> handlers = names_of(subscriptions_of(pools));
  const auto twice = std::adjacent_find(handlers.begin(), handlers.end());
  if (twice == handlers.end()) return {};
  return invalid("handler_name", "a handler named " + *twice + " is registered already");
}

SupervisorOptions measured_by(telemetry::MetricSet& own, SupervisorOptions options) {
  if (options.metrics == nullptr) options.metrics = &own;
  return options;
}

}  // namespace

Result<void> SupervisorOptions::validate() const {
  SLUICE_CHECK(worker.validate());
  if (workers < 1) return invalid("workers", "workers must be at least 1");
  SLUICE_CHECK(check_positive(listener.poll, "listener.poll"));
  SLUICE_CHECK(check_positive(listener.safety_poll, "listener.safety_poll"));
  SLUICE_CHECK(check_positive(presence_interval, "presence_interval"));
  if (drain_timeout < Duration::zero()) return invalid("drain_timeout", "drain_timeout must not be negative");
  SLUICE_CHECK(check_positive(reap_interval, "reap_interval"));
  if (reap_limit < 1) return invalid("reap_limit", "reap_limit must be at least 1");
  SLUICE_CHECK(check_positive(retention_interval, "retention_interval"));
  SLUICE_CHECK(check_positive(ladder_interval, "ladder_interval"));
  SLUICE_CHECK(check_positive(history_interval, "history_interval"));
  SLUICE_CHECK(check_positive(backoff.first, "backoff.first"));
  if (backoff.cap < backoff.first) return invalid("backoff.cap", "backoff.cap must be at least backoff.first");
  SLUICE_CHECK(patrol.validate());
  if (broker.broker != nullptr && broker.shards < 1) return invalid("shards", "shards must be at least 1");
  if (broker.broker != nullptr) SLUICE_CHECK(check_positive(broker.ack_wait, "ack_wait"));
  return retention.policies.validate();
}

std::vector<std::string> listening_channels(Generation generation, const std::vector<Subscription>& subscriptions) {
  std::set<std::string> channels;
  for (const Subscription& subscription : subscriptions) {
    channels.insert(subscription.channel.value_or("outbox_gen_" + std::to_string(generation)));
  }
  return {channels.begin(), channels.end()};
}

Result<std::unique_ptr<Supervisor>> Supervisor::start(store::Store& store, HandlerSet handlers,
                                                      const telemetry::Logger& logger, SupervisorOptions options) {
  std::vector<PoolOptions> pools;
  // Who relays may have nothing of its own to deliver.
  if (!handlers.empty() || !options.broker.relay) pools.push_back({{}, std::move(handlers), options.workers});
  return start(store, std::move(pools), logger, std::move(options));
}

Result<std::unique_ptr<Supervisor>> Supervisor::start(store::Store& store, std::vector<PoolOptions> pools,
                                                      const telemetry::Logger& logger, SupervisorOptions options) {
  SLUICE_CHECK(options.validate());
  SLUICE_CHECK(check_pools(pools, options.broker.relay));
  std::unique_ptr<Supervisor> supervisor{new Supervisor{store, std::move(pools), logger, std::move(options)}};
  SLUICE_CHECK(supervisor->register_here());
  supervisor->launch_services();
  for (WorkerPool* pool : supervisor->all_pools()) pool->start();
  return supervisor;
}

Supervisor::Supervisor(store::Store& store, std::vector<PoolOptions> pools, const telemetry::Logger& logger,
                       SupervisorOptions options)
    : store_(store),
      logger_(logger.with_generation(options.worker.generation)),
      options_(measured_by(own_metrics_, std::move(options))),
      subscriptions_(subscriptions_of(pools)),
      handler_names_(names_of(subscriptions_)),
      registry_(store, {options_.worker.generation, kAliveIntervals * options_.presence_interval}),
      keeper_(store, logger_, {options_.worker.ttl, {}}),
      own_notifier_(options_.worker.generation),
      notifier_(options_.notifier != nullptr ? *options_.notifier : own_notifier_),
      listener_(store, notifier_, logger_,
                {heard_channels(options_, subscriptions_), options_.listener, options_.metrics,
                 [this] { listener_changed_.wake_all(); }}) {
  for (PoolOptions& pool : pools) {
    if (options_.broker.broker != nullptr) add_consumers(pool);
    pools_.push_back(std::make_unique<WorkerPool>(pool_environment(), std::move(pool)));
  }
  if (options_.broker.broker != nullptr && options_.broker.relay) add_relay();
}

std::vector<WorkerPool*> Supervisor::all_pools() const {
  std::vector<WorkerPool*> all;
  for (const auto& pool : pools_) all.push_back(pool.get());
  for (const auto& pool : broker_pools_) all.push_back(pool.get());
  return all;
}

PoolEnvironment Supervisor::pool_environment() {
  return {store_,
          registry_,
          keeper_,
          listener_,
          notifier_,
          logger_,
          options_.worker,
          options_.backoff,
          abandon_.get_token(),
          options_.on_failed,
          options_.metrics,
          std::nullopt,
          [this](bool busy) { attend(busy); },
          options_.tracer};
}

Supervisor::~Supervisor() {
  request_stop();
  join();
}

Result<void> Supervisor::subscribe() {
  return store_.subscribe(options_.worker.generation, subscriptions_, options_.declared_by);
}

Result<void> Supervisor::register_here() {
  SLUICE_CHECK(subscribe());
  const store::WorkerRecord self{
      options_.worker.identity, options_.worker.generation, handler_names_, "starting", {}, {}};
  SLUICE_CHECK(store_.announce(self));
  return registry_.refresh();
}

void Supervisor::launch_services() {
  services_.emplace_back([this](const std::stop_token& stop) { listener_.run(stop); });
  launch(keeper_service());
  launch(presence_service(), listener_changed_);
  if (options_.reap) launch(reaper_service());
  if (options_.sweep) launch(retention_service());
  if (options_.patrol.enabled) launch(patrol_service());
  launch(ladder_service());
  launch(history_service());
}

void Supervisor::launch(Service service) { launch(std::move(service), nothing_); }

void Supervisor::launch(Service service, WakeSignal& signal) {
  services_.emplace_back([this, &signal, service = std::move(service)](const std::stop_token& stop) {
    run_service(stop, service, {signal, logger_, options_.backoff});
  });
}

void Supervisor::request_stop() {
  for (WorkerPool* pool : all_pools()) pool->request_stop();
}

void Supervisor::join() {
  const auto deadline = std::chrono::steady_clock::now() + options_.drain_timeout;
  const auto pools = all_pools();
  const bool drained =
      std::all_of(pools.begin(), pools.end(), [&](WorkerPool* pool) { return pool->wait_until(deadline); });
  if (!drained) {
    logger_.warn("the drain timeout has passed: giving back what has not begun");
    abandon_.request_stop();
    keeper_.stop_runs();
    for (WorkerPool* pool : pools) pool->stop_runs();
  }
  for (WorkerPool* pool : pools) pool->join();
  for (std::jthread& thread : services_) thread.request_stop();
  for (std::jthread& thread : services_) {
    if (thread.joinable()) thread.join();
  }
  if (!std::exchange(departed_, true)) sign_off();
}

void Supervisor::sign_off() {
  if (auto done = store_.depart(options_.worker.identity); !done) {
    log_error(logger_, "cannot sign off; this worker will seem alive for a moment", done.error());
  }
  if (!options_.withdraw) return;
  for (const std::string& handler : handler_names_) {
    const store::Actor self{options_.worker.identity, "daemon", "the worker has stopped"};
    const auto done = store_.unsubscribe(options_.worker.generation, handler, self);
    if (!done && done.error().code != ErrorCode::not_found) {
      log_error(logger_, "cannot withdraw the subscription of " + handler, done.error());
    }
  }
}

StepReport Supervisor::totals() const {
  StepReport all;
  for (const WorkerPool* pool : all_pools()) all += pool->totals();
  return all;
}

std::optional<Error> Supervisor::trouble() const {
  for (const WorkerPool* pool : all_pools()) {
    if (auto trouble = pool->trouble()) return trouble;
  }
  return std::nullopt;
}

// A process counts as busy while every pool is: whoever publishes need not wake it then, because each pool looks again
// by itself.
void Supervisor::attend(bool pool_is_busy) {
  const std::lock_guard lock{mutex_};
  const bool before = busy_pools_ == pools_.size();
  pool_is_busy ? ++busy_pools_ : --busy_pools_;
  const bool now = busy_pools_ == pools_.size();
  if (now != before) listener_.attend(now);
}

const RegisteredHandler* Supervisor::find(const std::string& handler_name) const {
  for (const auto& pool : pools_) {
    if (const RegisteredHandler* hosted = pool->options().handlers.find(handler_name)) return hosted;
  }
  return nullptr;
}

std::optional<std::string> Supervisor::pool_of(const std::string& handler_name) const {
  for (const auto& pool : pools_) {
    if (pool->options().handlers.find(handler_name) != nullptr) return pool->options().name;
  }
  return std::nullopt;
}

Service Supervisor::keeper_service() {
  Service service;
  service.name = "claim keeper";
  service.round = [this](const std::stop_token&) { return keeper_.step(); };
  return service;
}

Service Supervisor::presence_service() {
  Service service;
  service.name = "presence";
  service.round = [this](const std::stop_token&) -> Result<Duration> {
    SLUICE_CHECK(registry_.refresh());
    note_relay();
    // Another process with the same handler may have withdrawn it, or somebody has created the database anew. First
    // this: nobody is listed as listening to what it is not subscribed to.
    if (!registry_.current()->has_all(handler_names_)) {
      SLUICE_CHECK(subscribe());
      logger_.warn("the subscriptions of this worker were gone and are registered again");
      notifier_.announce();
    }
    const store::WorkerRecord self{options_.worker.identity,
                                   options_.worker.generation,
                                   handler_names_,
                                   lacks_broker()         ? "no broker"
                                   : listener_.starting() ? "starting"
                                                          : std::string{name(listener_.state())},
                                   {},
                                   {}};
    SLUICE_CHECK(store_.announce(self));
    return registry_.current()->has_all(handler_names_) ? options_.presence_interval : Duration::zero();
  };
  return service;
}

Service Supervisor::reaper_service() {
  const auto retry_of = [this](const std::string& name) -> std::optional<RetryPolicy> {
    const RegisteredHandler* hosted = find(name);
    return hosted != nullptr ? std::optional{hosted->retry} : std::nullopt;
  };
  ReaperOptions options{reaper_policy(pools_), options_.worker.uniform01, options_.on_failed, retry_of};
  options.pool_of = [this](const std::string& name) { return pool_of(name); };
  options.alive_within = kAliveIntervals * options_.presence_interval;
  auto reaper = std::make_shared<Reaper>(store_, store_, store_, logger_, std::move(options));
  Service service;
  service.name = "reaper";
  service.round = [this, reaper](const std::stop_token&) -> Result<Duration> {
    SLUICE_TRY(const StepReport report, reaper->step(options_.reap_limit));
    count_reaped(options_.metrics, report, host::wall_clock());
    if (report.retried > 0) notifier_.announce();
    return report.claimed >= options_.reap_limit ? Duration::zero() : options_.reap_interval;
  };
  return service;
}

Service Supervisor::retention_service() {
  auto sweep = std::make_shared<RetentionSweep>(store_, logger_, options_.retention);
  Service service;
  service.name = "retention";
  service.round = [this, sweep](const std::stop_token& stop) -> Result<Duration> {
    SLUICE_TRY(const store::RetentionReport report, sweep->step(stop));
    count_swept(options_.metrics, report);
    return report.more ? options_.backoff.first : options_.retention_interval;
  };
  return service;
}

// Not at once: who starts on a backlog has better things to do, and what a patrol finds is older than a minute.
Service Supervisor::patrol_service() {
  auto patrol = std::make_shared<Patrol>(store_, options_.worker.identity, logger_, options_.metrics, options_.patrol);
  auto first = std::make_shared<bool>(true);
  Service service;
  service.name = "patrol";
  service.round = [this, patrol, first](const std::stop_token&) -> Result<Duration> {
    if (std::exchange(*first, false)) return std::min<Duration>(options_.patrol.interval, kPatrolAfterStart);
    SLUICE_TRY(const Patrol::Report report, patrol->step());
    if (report.healed > 0) notifier_.announce();
    return report.rest;
  };
  service.finish = [patrol] { patrol->hand_on(); };
  return service;
}

// The first sample is taken after a rest: a process that lives for moments leaves none but what it delivered.
Service Supervisor::ladder_service() {
  auto log = std::make_shared<LadderLog>(store_, store_, *options_.metrics);
  auto first = std::make_shared<bool>(true);
  Service service;
  service.name = "ladder";
  service.round = [this, log, first](const std::stop_token&) -> Result<Duration> {
    if (!std::exchange(*first, false)) SLUICE_CHECK(log->step());
    return options_.ladder_interval;
  };
  service.finish = [log] { log->flush(); };
  return service;
}

Service Supervisor::history_service() {
  auto log = std::make_shared<HistoryLog>(store_, options_.metrics->history);
  auto first = std::make_shared<bool>(true);
  Service service;
  service.name = "history";
  service.round = [this, log, first](const std::stop_token&) -> Result<Duration> {
    if (!std::exchange(*first, false)) SLUICE_CHECK(log->step());
    return options_.history_interval;
  };
  service.finish = [log] { (void)log->step(); };
  return service;
}

}  // namespace sluice::runtime
