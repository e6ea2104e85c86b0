#include "runtime/worker_pool.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/try.hpp"

namespace sluice::runtime {
namespace {

// An event can be due and still not be claimable (its key is blocked): claiming again at once would spin.
constexpr Duration kShortestPause = std::chrono::milliseconds{20};

}  // namespace

Result<void> PoolOptions::validate() const {
  if (handlers.empty()) return invalid("handlers", "there is no handler to deliver to: register one first");
  if (workers < 1) return invalid("workers", "workers must be at least 1");
  return {};
}

/// One worker and whether it is busy.
class WorkerPool::Round {
 public:
  Round(WorkerPool& pool, WorkerOptions options, WorkerSource source)
      : pool_(pool),
        source_(std::move(source)),
        worker_({source_.claims ? *source_.claims : static_cast<store::Claiming&>(pool.environment_.store),
                 source_.registry ? *source_.registry : pool.environment_.registry,
                 source_.claims ? source_.handlers : pool.options_.handlers, pool.keeper_of(source_),
                 pool.environment_.on_failed, pool.environment_.metrics, pool.environment_.tracer,
                 pool.environment_.history},
                pool.environment_.logger, std::move(options)) {}

  Result<Duration> step(const std::stop_token& stop) {
    // A broker carries the deliveries: what is in flight was finished, and nothing new is claimed here.
    if (!source_.claims && !pool_.environment_.registry.current()->relay.claims_here()) {
      set_busy(false);
      pool_.note(worker_.finish());
      return pool_.environment_.listener.poll_interval();
    }
    if (source_.waits) return wait_for_some();
    const auto cause = std::exchange(rests_, false) ? IdleBackoff::Cause::woken : IdleBackoff::Cause::itself;
    pool_.idle_backoff_.wait(stop, busy_);
    const auto begun = IdleBackoff::Clock::now();
    bool all_there_was = false;
    const auto report = worker_.step(pool_.environment_.abandon, [&](bool full) {
      set_busy(true);
      all_there_was = !full;
      if (full) wake_more();
    });
    if (!report || report->claimed == 0) set_busy(false);
    pool_.note(report);
    if (!report) return report.error();
    // The store tells of what is left to other handlers. While nobody hears it, this does.
    if (report->released > 0 && pool_.environment_.listener.state() != ListenerState::listening) {
      pool_.environment_.notifier.announce();
    }
    if (all_there_was) pool_.idle_backoff_.found_few(report->claimed, worker_.claim_took());
    if (report->claimed > 0) return Duration::zero();
    pool_.idle_backoff_.found_nothing(IdleBackoff::Clock::now() - begun, cause);
    rests_ = true;
    return pool_.idle_rest();
  }

  /// Its rest has passed, and nobody had woken it.
  void polled() { rests_ = false; }

  void finish() {
    const auto report = worker_.finish();
    if (!report) {
      log_error(pool_.environment_.logger, "the last batch could not be settled; its claims will expire",
                report.error());
    }
    if (report) pool_.note(report);
    set_busy(false);
    pool_.ended();
  }

 private:
  Result<Duration> wait_for_some() {
    const auto report = worker_.step(pool_.environment_.abandon, [](bool) {});
    pool_.note(report);
    if (!report) return report.error();
    return Duration::zero();
  }

  void set_busy(bool now) {
    if (std::exchange(busy_, now) != now) pool_.set_busy(now ? 1 : -1);
  }
  void wake_more() {
    pool_.wake();
    pool_.environment_.listener.wake_others();
  }

  WorkerPool& pool_;
  WorkerSource source_;
  Worker worker_;
  bool busy_ = false;
  bool rests_ = false;
};

WorkerPool::WorkerPool(PoolEnvironment environment, PoolOptions options)
    : environment_(std::move(environment)),
      options_(std::move(options)),
      handler_names_(options_.handlers.names().begin(), options_.handlers.names().end()) {}

WorkerPool::~WorkerPool() {
  registration_.reset();
  request_stop();
  join();
}

void WorkerPool::start() {
  const auto wants = [subscriptions = options_.handlers.subscriptions()](const Route& route) {
    return std::any_of(subscriptions.begin(), subscriptions.end(),
                       [&](const Subscription& one) { return one.matches(route); });
  };
  registration_ = environment_.notifier.add({wants, [this] { wake(); }});
  running_ = options_.workers;
  std::vector<Service> services;
  for (int number = 0; number < options_.workers; ++number) services.push_back(service(number));
  for (Service& each : services) {
    threads_.emplace_back([this, service = std::move(each)](const std::stop_token& stop) {
      run_service(stop, service, {signal_, environment_.logger, environment_.backoff});
    });
  }
  if (keepers_.empty()) return;
  keeping_ = std::jthread{[this](const std::stop_token& stop) {
    run_service(stop, keeper_service(), {nothing_, environment_.logger, environment_.backoff});
  }};
}

ClaimKeeper& WorkerPool::keeper_of(const WorkerSource& source) {
  if (!source.waits) return environment_.keeper;
  keepers_.push_back(std::make_unique<ClaimKeeper>(
      *source.claims, environment_.logger,
      ClaimKeeperOptions{environment_.renew_within.value_or(environment_.worker.ttl), {}}));
  return *keepers_.back();
}

Service WorkerPool::keeper_service() {
  Service service;
  service.name = "claim keeper";
  service.round = [this](const std::stop_token&) -> Result<Duration> {
    Duration rest = environment_.worker.ttl;
    for (const auto& keeper : keepers_) {
      SLUICE_TRY(const Duration own, keeper->step());
      rest = std::min(rest, own);
    }
    return rest;
  };
  service.finish = [] {};
  return service;
}

void WorkerPool::stop_runs() {
  for (const auto& keeper : keepers_) keeper->stop_runs();
}

std::string WorkerPool::worker_name(int number) const {
  const std::string own = options_.name.empty() ? "" : "/" + options_.name;
  return environment_.worker.identity + own + "/" + std::to_string(number);
}

Service WorkerPool::service(int number) {
  WorkerOptions options = environment_.worker;
  options.identity = worker_name(number);
  if (options_.batch_max > 0) options.batch_max = options_.batch_max;
  auto round = std::make_shared<Round>(*this, std::move(options), options_.source ? options_.source() : WorkerSource{});
  Service service;
  service.name = "worker";
  service.round = [round](const std::stop_token& stop) { return round->step(stop); };
  service.polled = [this, round] {
    round->polled();
    if (environment_.metrics != nullptr) environment_.metrics->delivery.polls->add();
  };
  service.finish = [round] { round->finish(); };
  return service;
}

void WorkerPool::request_stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

bool WorkerPool::wait_until(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock{mutex_};
  return finished_.wait_until(lock, deadline, [this] { return running_ == 0; });
}

void WorkerPool::join() {
  for (std::jthread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  keeping_.request_stop();
  if (keeping_.joinable()) keeping_.join();
}

void WorkerPool::ended() {
  const std::lock_guard lock{mutex_};
  --running_;
  finished_.notify_all();
}

StepReport WorkerPool::totals() const {
  const std::lock_guard lock{mutex_};
  return totals_;
}

std::optional<Error> WorkerPool::trouble() const {
  const std::lock_guard lock{mutex_};
  return trouble_;
}

void WorkerPool::note(const Result<StepReport>& report) {
  const std::lock_guard lock{mutex_};
  trouble_ = report ? std::nullopt : std::optional{report.error()};
  if (report) totals_ += *report;
}

// Under the lock, so that the last one to be told is the last thing that happened.
void WorkerPool::set_busy(int change) {
  const std::lock_guard lock{mutex_};
  const bool before = busy_ > 0;
  busy_ += change;
  if ((busy_ > 0) != before) environment_.on_busy(busy_ > 0);
}

Result<Duration> WorkerPool::idle_rest() {
  const Duration interval = environment_.listener.poll_interval();
  SLUICE_TRY(const auto due, environment_.store.next_due(environment_.worker.generation, handler_names_));
  if (!due) return interval;
  SLUICE_TRY(const Timestamp now, environment_.store.now());
  return std::clamp(std::chrono::duration_cast<Duration>(*due - now), std::min(kShortestPause, interval), interval);
}

}  // namespace sluice::runtime
