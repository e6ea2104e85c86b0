#include "runtime/supervisor.hpp"

#include <algorithm>
#include <utility>

namespace sluice::runtime {

namespace {

// An event can be due and still not be claimable (its key is blocked): looking again at once would spin.
constexpr Duration kShortestRest = std::chrono::milliseconds{20};

Result<void> check_positive(Duration duration, const char* field) {
  if (duration > Duration::zero()) return {};
  return invalid(field, std::string{field} + " must be longer than zero");
}

}  // namespace

Result<void> SupervisorOptions::validate() const {
  if (auto checked = worker.validate(); !checked) return checked;
  if (workers < 1) return invalid("workers", "workers must be at least 1");
  if (auto checked = check_positive(poll_interval, "poll_interval"); !checked) return checked;
  if (auto checked = check_positive(reap_interval, "reap_interval"); !checked) return checked;
  if (reap_limit < 1) return invalid("reap_limit", "reap_limit must be at least 1");
  if (auto checked = check_positive(retention_interval, "retention_interval"); !checked) return checked;
  if (auto checked = check_positive(backoff.first, "backoff.first"); !checked) return checked;
  if (backoff.cap < backoff.first) return invalid("backoff.cap", "backoff.cap must be at least backoff.first");
  return retention.policies.validate();
}

Result<std::unique_ptr<Supervisor>> Supervisor::start(store::Store& store, sink::Sink& sink, telemetry::Logger logger,
                                                      SupervisorOptions options) {
  if (auto checked = options.validate(); !checked) return std::move(checked).error();
  std::unique_ptr<Supervisor> supervisor{new Supervisor{store, sink, std::move(logger), std::move(options)}};
  for (int number = 0; number < supervisor->options_.workers; ++number) {
    supervisor->launch(supervisor->worker_service(number), supervisor->work_);
  }
  supervisor->launch(supervisor->reaper_service(), supervisor->nothing_);
  supervisor->launch(supervisor->retention_service(), supervisor->nothing_);
  return supervisor;
}

Supervisor::Supervisor(store::Store& store, sink::Sink& sink, telemetry::Logger logger, SupervisorOptions options)
    : store_(store),
      sink_(sink),
      logger_(logger.with_generation(options.worker.generation)),
      options_(std::move(options)) {}

Supervisor::~Supervisor() {
  request_stop();
  join();
}

void Supervisor::wake() { work_.ring(); }

void Supervisor::request_stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void Supervisor::join() {
  for (std::jthread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

StepReport Supervisor::totals() const {
  const std::lock_guard lock{totals_mutex_};
  return totals_;
}

void Supervisor::count(const StepReport& report) {
  const std::lock_guard lock{totals_mutex_};
  totals_ += report;
}

void Supervisor::launch(Service service, Doorbell& doorbell) {
  threads_.emplace_back([this, &doorbell, service = std::move(service)](const std::stop_token& stop) {
    run_service(stop, service, {doorbell, logger_, options_.backoff});
  });
}

Service Supervisor::worker_service(int number) {
  WorkerOptions options = options_.worker;
  options.identity += "/" + std::to_string(number);
  auto worker = std::make_shared<Worker>(store_, sink_, logger_, std::move(options));
  Service service;
  service.name = "worker";
  service.round = [this, worker](const std::stop_token&) -> Result<Duration> {
    const auto report = worker->step();
    if (!report) return report.error();
    count(*report);
    return report->claimed > 0 ? Result<Duration>{Duration::zero()} : idle_rest();
  };
  service.finish = [this, worker] {
    const auto report = worker->finish();
    if (report) return count(*report);
    log_error(logger_, "the last batch could not be settled; its claims will expire", report.error());
  };
  return service;
}

Service Supervisor::reaper_service() {
  auto reaper = std::make_shared<Reaper>(store_, store_, logger_,
                                         ReaperOptions{options_.worker.retry, options_.worker.uniform01});
  Service service;
  service.name = "reaper";
  service.round = [this, reaper](const std::stop_token&) -> Result<Duration> {
    const auto report = reaper->step(options_.reap_limit);
    if (!report) return report.error();
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
    return report->more ? options_.backoff.first : options_.retention_interval;
  };
  return service;
}

Result<Duration> Supervisor::idle_rest() {
  const auto due = store_.next_due(options_.worker.generation);
  if (!due) return due.error();
  if (!due->has_value()) return options_.poll_interval;
  const auto now = store_.now();
  if (!now) return now.error();
  return std::min(options_.poll_interval, std::max(**due - *now, kShortestRest));
}

}  // namespace sluice::runtime
