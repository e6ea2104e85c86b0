// A process that delivers, within the test: a store of its own, handlers, threads. And what tests need
// to wait for it without sleeping.
#pragma once

#include <gtest/gtest.h>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/supervisor.hpp"
#include "store/postgres/postgres_store.hpp"
#include "tests/support/events.hpp"

namespace sluice::test {

using namespace std::chrono_literals;

/// So long that a test which depended on it would never end.
inline constexpr Duration kNever = std::chrono::days{365};

/// What handlers have done, and who waits for it.
class Journal {
 public:
  void write(const std::string& handler, const Uuid& event) {
    const std::lock_guard lock{mutex_};
    ++entries_[{handler, event}];
    ++count_;
    grown_.notify_all();
  }
  [[nodiscard]] int times(const std::string& handler, const Uuid& event) const {
    const std::lock_guard lock{mutex_};
    const auto found = entries_.find({handler, event});
    return found == entries_.end() ? 0 : found->second;
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock{mutex_};
    return count_;
  }
  /// The test framework's own limit ends a test that hangs.
  void await(std::size_t count) {
    std::unique_lock lock{mutex_};
    grown_.wait(lock, [&] { return count_ >= count; });
  }
  /// False: it took longer.
  [[nodiscard]] bool await_within(Duration time, std::size_t count) {
    std::unique_lock lock{mutex_};
    return grown_.wait_for(lock, time, [&] { return count_ >= count; });
  }
  void await(const std::string& handler, const Uuid& event) {
    std::unique_lock lock{mutex_};
    grown_.wait(lock, [&] { return entries_.contains({handler, event}); });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable grown_;
  std::map<std::pair<std::string, Uuid>, int> entries_;
  std::size_t count_ = 0;
};

inline runtime::SupervisorOptions patient_options(const std::string& identity) {
  runtime::SupervisorOptions options;
  options.worker.identity = identity;
  options.worker.uniform01 = [] { return 0.5; };
  options.listener.poll = kNever;
  options.listener.safety_poll = kNever;
  options.reap_interval = kNever;
  options.retention_interval = kNever;
  options.drain_timeout = kNever;
  options.backoff = {1ms, 10ms};
  return options;
}

inline RetryPolicy quick_retry(int attempts = 5) {
  RetryPolicy policy;
  policy.max_attempts = attempts;
  policy.base = 1ms;
  policy.cap = 1ms;
  policy.jitter = Jitter::none;
  return policy;
}

/// A handler of every event that writes to the journal.
inline runtime::RegisteredHandler journalling(const std::string& name, Journal& journal) {
  return {.subscription = {.handler_name = name},
          .handler = [name, &journal](const EventEnvelope& event) { journal.write(name, event.event_id()); },
          .retry = quick_retry()};
}

inline std::unique_ptr<store::Store> open_store(const std::string& url,
                                                std::function<void(std::string_view)> at_doorbell_step = {}) {
  store::PostgresOptions options;
  options.dsn = url;
  options.max_connections = 12;
  options.at_doorbell_step = std::move(at_doorbell_step);
  auto opened = store::open_postgres(options);
  if (!opened) throw std::runtime_error(opened.error().message);
  return *std::move(opened);
}

class DeliveringProcess {
 public:
  DeliveringProcess(std::unique_ptr<store::Store> store, std::vector<runtime::RegisteredHandler> handlers,
                    runtime::SupervisorOptions options, telemetry::Logger logger = {})
      : store_(std::move(store)) {
    runtime::HandlerSet set;
    for (auto& handler : handlers) {
      if (auto added = set.add(std::move(handler)); !added) throw std::runtime_error(added.error().message);
    }
    auto started = runtime::Supervisor::start(*store_, std::move(set), std::move(logger), std::move(options));
    if (!started) throw std::runtime_error(started.error().message);
    supervisor_ = *std::move(started);
  }

  runtime::Supervisor& operator*() { return *supervisor_; }
  runtime::Supervisor* operator->() { return supervisor_.get(); }
  store::Store& store() { return *store_; }
  void stop() {
    supervisor_->request_stop();
    supervisor_->join();
  }

 private:
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<runtime::Supervisor> supervisor_;
};

/// On the channel that workers of the generation listen to.
inline store::NewEvent on_channel(store::NewEvent event) {
  event.channel = "outbox_gen_" + std::to_string(event.generation);
  return event;
}

inline Uuid publish_one(store::Store& store, store::NewEvent event = an_event()) {
  event = on_channel(std::move(event));
  const auto published = store.publish(std::span{&event, 1});
  if (!published) throw std::runtime_error(published.error().message);
  return event.envelope.event_id();
}

/// Waits for a state that only the database shows. Looks again whenever something else had its turn.
template <class Done>
void eventually(Done done) {
  while (!done()) std::this_thread::yield();
}

}  // namespace sluice::test
