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
  Round(WorkerPool& pool, WorkerOptions options)
      : pool_(pool),
        worker_({pool.environment_.store, pool.environment_.registry, pool.options_.handlers, pool.environment_.keeper,
                 pool.environment_.on_failed, pool.environment_.metrics},
                pool.environment_.logger, std::move(options)) {}

  Result<Duration> step(const std::stop_token& stop) {
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
    pool_.idle_backoff_.found_nothing(IdleBackoff::Clock::now() - begun);
    return pool_.idle_rest();
  }

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
  void set_busy(bool now) {
    if (std::exchange(busy_, now) != now) pool_.set_busy(now ? 1 : -1);
  }
  void wake_more() {
    pool_.wake();
    pool_.environment_.listener.wake_others();
  }

  WorkerPool& pool_;
  Worker worker_;
  bool busy_ = false;
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
  for (int number = 0; number < options_.workers; ++number) {
    threads_.emplace_back([this, service = service(number)](const std::stop_token& stop) {
      run_service(stop, service, {signal_, environment_.logger, environment_.backoff});
    });
  }
}

std::string WorkerPool::worker_name(int number) const {
  const std::string own = options_.name.empty() ? "" : "/" + options_.name;
  return environment_.worker.identity + own + "/" + std::to_string(number);
}

Service WorkerPool::service(int number) {
  WorkerOptions options = environment_.worker;
  options.identity = worker_name(number);
  auto round = std::make_shared<Round>(*this, std::move(options));
  Service service;
  service.name = "worker";
  service.round = [round](const std::stop_token& stop) { return round->step(stop); };
  service.polled = [this] {
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
