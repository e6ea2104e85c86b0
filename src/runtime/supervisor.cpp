#include "runtime/supervisor.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace sluice::runtime {

namespace {

// Signs of life that may be missed before a worker counts as gone.
constexpr int kAliveIntervals = 6;
// An event can be due and still not be claimable (its key is blocked): looking again at once would spin.
constexpr Duration kShortestPause = std::chrono::milliseconds{20};

Result<void> check_positive(Duration duration, const char* field) {
  if (duration > Duration::zero()) return {};
  return invalid(field, std::string{field} + " must be longer than zero");
}

// Expired claims are counted against the most patient of the hosted handlers.
RetryPolicy reaper_policy(const HandlerSet& handlers) {
  RetryPolicy policy;
  bool first = true;
  for (const std::string& name : handlers.names()) {
    const RetryPolicy& own = handlers.find(name)->retry;
    if (first || own.max_attempts > policy.max_attempts) policy = own;
    first = false;
  }
  return policy;
}

}  // namespace

Result<void> SupervisorOptions::validate() const {
  if (auto checked = worker.validate(); !checked) return checked;
  if (workers < 1) return invalid("workers", "workers must be at least 1");
  if (auto checked = check_positive(listener.poll, "listener.poll"); !checked) return checked;
  if (auto checked = check_positive(listener.safety_poll, "listener.safety_poll"); !checked) return checked;
  if (auto checked = check_positive(presence_interval, "presence_interval"); !checked) return checked;
  if (drain_timeout < Duration::zero()) return invalid("drain_timeout", "drain_timeout must not be negative");
  if (auto checked = check_positive(reap_interval, "reap_interval"); !checked) return checked;
  if (reap_limit < 1) return invalid("reap_limit", "reap_limit must be at least 1");
  if (auto checked = check_positive(retention_interval, "retention_interval"); !checked) return checked;
  if (auto checked = check_positive(backoff.first, "backoff.first"); !checked) return checked;
  if (backoff.cap < backoff.first) return invalid("backoff.cap", "backoff.cap must be at least backoff.first");
  if (auto checked = patrol.validate(); !checked) return checked;
  return retention.policies.validate();
}

std::vector<std::string> listening_channels(Generation generation, const HandlerSet& handlers) {
  std::set<std::string> channels;
  for (const Subscription& subscription : handlers.subscriptions()) {
    channels.insert(subscription.channel.value_or("outbox_gen_" + std::to_string(generation)));
  }
  return {channels.begin(), channels.end()};
}

Result<std::unique_ptr<Supervisor>> Supervisor::start(store::Store& store, HandlerSet handlers,
                                                      telemetry::Logger logger, SupervisorOptions options) {
  if (auto checked = options.validate(); !checked) return std::move(checked).error();
  if (handlers.empty()) return invalid("handlers", "there is no handler to deliver to: register one first");
  std::unique_ptr<Supervisor> supervisor{
      new Supervisor{store, std::move(handlers), std::move(logger), std::move(options)}};
  if (auto registered = supervisor->register_here(); !registered) return std::move(registered).error();
  supervisor->launch_services();
  supervisor->launch_workers();
  return supervisor;
}

Supervisor::Supervisor(store::Store& store, HandlerSet handlers, telemetry::Logger logger, SupervisorOptions options)
    : store_(store),
      handlers_(std::move(handlers)),
      logger_(logger.with_generation(options.worker.generation)),
      options_(std::move(options)),
      handler_names_(handlers_.names().begin(), handlers_.names().end()),
      registry_(store, {options_.worker.generation, kAliveIntervals * options_.presence_interval}),
      keeper_(store, logger_, {options_.worker.ttl, {}}),
      work_(options_.on_claimable),
      listener_(store, work_, logger_,
                {listening_channels(options_.worker.generation, handlers_), options_.listener, options_.metrics}) {}

Supervisor::~Supervisor() {
  request_stop();
  join();
}

Result<void> Supervisor::subscribe() {
  return store_.subscribe(options_.worker.generation, handlers_.subscriptions(), options_.declared_by);
}

Result<void> Supervisor::register_here() {
  if (auto done = subscribe(); !done) return done;
  const store::WorkerRecord self{
      options_.worker.identity, options_.worker.generation, handler_names_, "starting", {}, {}};
  if (auto done = store_.announce(self); !done) return done;
  return registry_.refresh();
}

void Supervisor::launch_services() {
  services_.emplace_back([this](const std::stop_token& stop) { listener_.run(stop); });
  launch(services_, keeper_service(), nothing_);
  launch(services_, presence_service(), nothing_);
  if (options_.reap) launch(services_, reaper_service(), nothing_);
  if (options_.sweep) launch(services_, retention_service(), nothing_);
  if (options_.patrol.enabled) launch(services_, patrol_service(), nothing_);
}

void Supervisor::launch_workers() {
  running_ = options_.workers;
  for (int number = 0; number < options_.workers; ++number) launch(workers_, worker_service(number), work_);
}

void Supervisor::wake() { work_.ring(); }

void Supervisor::request_stop() {
  for (std::jthread& thread : workers_) thread.request_stop();
}

void Supervisor::join() {
  {
    std::unique_lock lock{mutex_};
    if (!finished_.wait_for(lock, options_.drain_timeout, [this] { return running_ == 0; })) {
      lock.unlock();
      logger_.warn("the drain timeout has passed: giving back what has not begun");
      abandon_.request_stop();
      keeper_.stop_runs();
    }
  }
  for (std::jthread& thread : workers_) {
    if (thread.joinable()) thread.join();
  }
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
  const std::lock_guard lock{mutex_};
  return totals_;
}

void Supervisor::count(const StepReport& report) {
  const std::lock_guard lock{mutex_};
  totals_ += report;
}

std::optional<Error> Supervisor::trouble() const {
  const std::lock_guard lock{mutex_};
  return trouble_;
}

void Supervisor::note_trouble(std::optional<Error> trouble) {
  const std::lock_guard lock{mutex_};
  trouble_ = std::move(trouble);
}

void Supervisor::attend(int change) {
  const std::lock_guard lock{mutex_};
  const bool before = busy_ > 0;
  busy_ += change;
  if ((busy_ > 0) != before) listener_.attend(busy_ > 0);
}

void Supervisor::launch(std::vector<std::jthread>& group, Service service, Doorbell& doorbell) {
  group.emplace_back([this, &doorbell, service = std::move(service)](const std::stop_token& stop) {
    run_service(stop, service, {doorbell, logger_, options_.backoff});
  });
}

Service Supervisor::worker_service(int number) {
  WorkerOptions options = options_.worker;
  options.identity += "/" + std::to_string(number);
  const DispatchEnvironment environment{store_, registry_, handlers_, keeper_, options_.on_failed, options_.metrics};
  auto worker = std::make_shared<Worker>(environment, logger_, std::move(options));
  auto busy = std::make_shared<bool>(false);
  const auto set_busy = [this, busy](bool now) {
    if (std::exchange(*busy, now) != now) attend(now ? 1 : -1);
  };
  Service service;
  service.name = "worker";
  service.round = [this, worker, set_busy](const std::stop_token& stop) -> Result<Duration> {
    vain_looks_.keep_distance(stop);
    const auto begun = std::chrono::steady_clock::now();
    bool all_there_was = false;
    const auto report = worker->step(abandon_.get_token(), [&](bool full) {
      set_busy(true);
      all_there_was = !full;
      if (!full) return;
      work_.ring_one();
      listener_.wake_others();
    });
    if (!report || report->claimed == 0) set_busy(false);
    note_trouble(report ? std::nullopt : std::optional{report.error()});
    if (!report) return report.error();
    count(*report);
    if (report->released > 0 && options_.on_claimable) options_.on_claimable();
    if (report->claimed == 0) vain_looks_.note(std::chrono::steady_clock::now() - begun);
    if (all_there_was) vain_looks_.note_few(report->claimed, worker->claim_took());
    return report->claimed > 0 ? Result<Duration>{Duration::zero()} : idle_rest();
  };
  service.polled = [this] {
    if (options_.metrics != nullptr) options_.metrics->delivery.polls->add();
  };
  service.finish = [this, worker, set_busy] {
    const auto report = worker->finish();
    if (report) count(*report);
    if (!report) log_error(logger_, "the last batch could not be settled; its claims will expire", report.error());
    set_busy(false);
    const std::lock_guard lock{mutex_};
    --running_;
    finished_.notify_all();
  };
  return service;
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
    if (auto done = registry_.refresh(); !done) return std::move(done).error();
    // Another process with the same handler may have withdrawn it, or somebody has created the database anew. First
    // this: nobody is listed as listening to what it is not subscribed to.
    if (!registry_.current()->has_all(handler_names_)) {
      if (auto done = subscribe(); !done) return std::move(done).error();
      logger_.warn("the subscriptions of this worker were gone and are registered again");
      work_.ring();
    }
    const store::WorkerRecord self{options_.worker.identity,
                                   options_.worker.generation,
                                   handler_names_,
                                   std::string{name(listener_.state())},
                                   {},
                                   {}};
    if (auto done = store_.announce(self); !done) return std::move(done).error();
    return registry_.current()->has_all(handler_names_) ? options_.presence_interval : Duration::zero();
  };
  return service;
}

Service Supervisor::reaper_service() {
  const auto retry_of = [this](const std::string& name) -> std::optional<RetryPolicy> {
    if (const RegisteredHandler* hosted = handlers_.find(name)) return hosted->retry;
    return options_.retry_of ? options_.retry_of(name) : std::nullopt;
  };
  auto reaper =
      std::make_shared<Reaper>(store_, store_, store_, logger_,
                               ReaperOptions{reaper_policy(handlers_), options_.worker.uniform01, options_.on_failed,
                                             retry_of, kAliveIntervals * options_.presence_interval});
  Service service;
  service.name = "reaper";
  service.round = [this, reaper](const std::stop_token&) -> Result<Duration> {
    const auto report = reaper->step(options_.reap_limit);
    if (!report) return report.error();
    count_reaped(options_.metrics, *report);
    if (report->retried > 0) work_.ring();
    return report->claimed >= options_.reap_limit ? Duration::zero() : options_.reap_interval;
  };
  return service;
}

Service Supervisor::retention_service() {
  auto sweep = std::make_shared<RetentionSweep>(store_, logger_, options_.retention);
  Service service;
  service.name = "retention";
  service.round = [this, sweep](const std::stop_token& stop) -> Result<Duration> {
    const auto report = sweep->step(stop);
    if (!report) return report.error();
    count_swept(options_.metrics, *report);
    return report->more ? options_.backoff.first : options_.retention_interval;
  };
  return service;
}

Service Supervisor::patrol_service() {
  auto patrol = std::make_shared<Patrol>(store_, options_.worker.identity, logger_, options_.metrics, options_.patrol);
  Service service;
  service.name = "patrol";
  service.round = [this, patrol](const std::stop_token&) -> Result<Duration> {
    const auto report = patrol->step();
    if (!report) return report.error();
    if (report->healed > 0) work_.ring();
    return report->rest;
  };
  service.finish = [patrol] { patrol->hand_on(); };
  return service;
}

Result<Duration> Supervisor::idle_rest() {
  const Duration interval = listener_.look_interval();
  const auto due = store_.next_due(options_.worker.generation, handler_names_);
  if (!due) return due.error();
  if (!*due) return interval;
  const auto now = store_.now();
  if (!now) return now.error();
  return std::clamp(std::chrono::duration_cast<Duration>(**due - *now), std::min(kShortestPause, interval), interval);
}

}  // namespace sluice::runtime
