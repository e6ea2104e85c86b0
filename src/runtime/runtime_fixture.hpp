// What the runtime's tests share: a real embedded store on a clock that the test moves, and a sink
// that does as it is told.
#pragma once

#include <gtest/gtest.h>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/worker.hpp"
#include "sink/sink.hpp"
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

/// Handles everything, unless `behaviour` says otherwise, and remembers what it was given.
class ScriptedSink final : public sink::Sink {
 public:
  using Behaviour = std::function<std::vector<Outcome>(std::span<const store::ClaimedEvent>)>;

  explicit ScriptedSink(Behaviour behaviour = {}) : behaviour_(std::move(behaviour)) {}

  std::vector<Outcome> deliver(std::span<const store::ClaimedEvent> events) override {
    {
      const std::lock_guard lock{mutex_};
      for (const auto& event : events) delivered_.push_back(event.envelope.event_id());
      batches_.push_back(events.size());
    }
    grown_.notify_all();
    if (behaviour_) return behaviour_(events);
    return std::vector<Outcome>(events.size(), Outcome::handled());
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
  Behaviour behaviour_;
  mutable std::mutex mutex_;
  std::condition_variable grown_;
  std::vector<Uuid> delivered_;
  std::vector<std::size_t> batches_;
};

inline ScriptedSink::Behaviour always(const Outcome& outcome) {
  return
      [outcome](std::span<const store::ClaimedEvent> events) { return std::vector<Outcome>(events.size(), outcome); };
}

inline Outcome a_timeout() { return Outcome::failed(Failure{"TimeoutError", "no answer", {}, false}); }

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
  options.retry.jitter = Jitter::none;
  return options;
}

}  // namespace sluice::runtime
