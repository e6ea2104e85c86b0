// What the runtime's tests share: a real embedded store on a clock that the test moves, and a handler
// that does as it is told.
#pragma once

#include <gtest/gtest.h>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/worker.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "tests/support/events.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::runtime {

class ManualClock {
 public:
  [[nodiscard]] Timestamp now() const { return Timestamp{Duration{at_.load()}}; }
  void advance(Duration by) { at_ += by.count(); }

 private:
  std::atomic<Duration::rep> at_ = test::wall_clock().time_since_epoch().count();
};

inline RetryPolicy without_jitter() {
  RetryPolicy policy;
  policy.jitter = Jitter::none;
  return policy;
}

/// Handles everything, unless `behaviour` says otherwise, and remembers what it was given.
class ScriptedHandler {
 public:
  using Events = std::span<const EventEnvelope>;
  using Behaviour = std::function<std::vector<Verdict>(Events)>;

  explicit ScriptedHandler(Behaviour behaviour = {}) : behaviour_(std::move(behaviour)) {}

  std::string name = "sluice.log";
  RetryPolicy retry = without_jitter();

  /// As a handler of every event.
  HandlerSet handlers() {
    HandlerSet set;
    const auto added = set.add(
        {.subscription = {.handler_name = name}, .handler = [this](Events e) { return run(e); }, .retry = retry});
    if (!added) throw std::runtime_error(added.error().message);
    return set;
  }

  [[nodiscard]] std::vector<Uuid> delivered() const {
    const std::lock_guard lock{mutex_};
    return delivered_;
  }
  [[nodiscard]] std::vector<std::size_t> batches() const {
    const std::lock_guard lock{mutex_};
    return batches_;
  }
  /// Waits for the signal, not for time: the test framework's own limit ends a test that hangs.
  void await(std::size_t count) {
    std::unique_lock lock{mutex_};
    grown_.wait(lock, [&] { return delivered_.size() >= count; });
  }

 private:
  std::vector<Verdict> run(Events events) {
    {
      const std::lock_guard lock{mutex_};
      for (const auto& event : events) delivered_.push_back(event.event_id());
      batches_.push_back(events.size());
    }
    grown_.notify_all();
    if (behaviour_) return behaviour_(events);
    return std::vector<Verdict>(events.size());
  }

  Behaviour behaviour_;
  mutable std::mutex mutex_;
  std::condition_variable grown_;
  std::vector<Uuid> delivered_;
  std::vector<std::size_t> batches_;
};

inline ScriptedHandler::Behaviour always(const Verdict& verdict) {
  return [verdict](ScriptedHandler::Events events) { return std::vector<Verdict>(events.size(), verdict); };
}

inline Verdict a_timeout() { return Verdict::failed("TimeoutError", "no answer"); }

/// A fresh store in a directory of its own.
class TestStore {
 public:
  explicit TestStore(std::function<Timestamp()> clock = {}) {
    store::SqliteOptions options;
    options.path = directory_.file("sluice.db");
    options.clock = std::move(clock);
    auto opened = store::open_sqlite(options);
    if (!opened) throw std::runtime_error(opened.error().message);
    store_ = std::move(opened).value();
  }

  store::Store& operator*() { return *store_; }
  store::Store* operator->() { return store_.get(); }

  std::vector<Uuid> publish(const std::vector<store::NewEvent>& events) {
    const auto published = store_->publish(events);
    if (!published) throw std::runtime_error(published.error().message);
    std::vector<Uuid> ids;
    for (const auto& event : events) ids.push_back(event.envelope.event_id());
    return ids;
  }

  store::EventRecord event(const Uuid& id) {
    auto found = store_->get_event(id);
    if (!found) throw std::runtime_error(found.error().message);
    return std::move(found).value();
  }

 private:
  test::TempDir directory_;
  std::unique_ptr<store::Store> store_;
};

inline WorkerOptions worker_options() {
  WorkerOptions options;
  options.identity = "test:1";
  options.uniform01 = [] { return 0.5; };
  return options;
}

/// One worker with what stands around it in a process, its subscriptions registered.
class TestWorker {
 public:
  TestWorker(store::Store& store, HandlerSet handlers, const telemetry::Logger& logger = {},
             WorkerOptions options = worker_options(), FailureListener on_failed = {},
             telemetry::MetricSet* metrics = nullptr, Tracer* tracer = nullptr)
      : handlers_(std::move(handlers)),
        registry_(store, {options.generation, std::chrono::hours{1}}),
        keeper_(store, logger, {options.ttl, {}}) {
    const store::WorkerRecord self{
        options.identity, options.generation, {handlers_.names().begin(), handlers_.names().end()}, "", {}, {}};
    const bool ready =
        store.subscribe(options.generation, handlers_.subscriptions()) && store.announce(self) && registry_.refresh();
    if (!ready) throw std::runtime_error("the worker cannot register");
    worker_.emplace(DispatchEnvironment{store, registry_, handlers_, keeper_, std::move(on_failed), metrics, tracer},
                    logger, std::move(options));
  }

  Result<StepReport> step(const std::stop_token& abandon = {}) { return worker_->step(abandon); }
  ClaimKeeper& keeper() { return keeper_; }
  RegistryView& registry() { return registry_; }

 private:
  HandlerSet handlers_;
  RegistryView registry_;
  ClaimKeeper keeper_;
  std::optional<Worker> worker_;
};

}  // namespace sluice::runtime
