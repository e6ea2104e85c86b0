// Drains a backlog through the public library: real listeners, handlers that do nothing.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include <sluice/listener.hpp>
#include "bench/bench.hpp"

namespace sluice::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Counts down; wakes who waits for the last one.
class Countdown {
 public:
  explicit Countdown(std::int64_t count) : left_(count) {}
  void handled(std::int64_t events) {
    if (left_.fetch_sub(events, std::memory_order_relaxed) > events) return;
    const std::lock_guard lock{mutex_};
    over_.notify_all();
  }
  void wait() {
    std::unique_lock lock{mutex_};
    over_.wait(lock, [this] { return left_.load() <= 0; });
  }

 private:
  std::atomic<std::int64_t> left_;
  std::mutex mutex_;
  std::condition_variable over_;
};

// Plain handlers are called per event; `once` is the exactly-once batch handler.
EventHandler handler(bool once, Countdown& left) {
  if (once) {
    return [&left](std::span<const EventEnvelope> events, Transaction&) {
      left.handled(static_cast<std::int64_t>(events.size()));
    };
  }
  return [&left](const EventEnvelope&) { left.handled(1); };
}

}  // namespace

int drain(const Options& options) {
  const std::int64_t count = options.number("events", 200'000);
  const int threads = static_cast<int>(options.number("workers", 2));
  const int batch = static_cast<int>(options.number("batch", 500));
  const bool once = options.number("once", 0) != 0;
  const std::int64_t handlers = options.number("handlers", 1);
  if (options.number("fill", 1) != 0) fill(*open(options, 1), count);
  if (options.number("drain", 1) == 0) return 0;

  Countdown left{count * handlers};
  auto listener = must(EventListener::open(
      {.store = options.text("dsn", ""), .generation = 1, .threads = threads, .batch = batch, .reaper = false}));
  // All of one context: each is to handle every event.
  for (std::int64_t i = 1; i <= handlers; ++i) {
    must(listener.listen({.handler_name = "billing.nothing_" + std::to_string(i), .idempotent = !once},
                         handler(once, left)));
  }
  const auto start = Clock::now();
  must(listener.start());
  left.wait();
  // Over when the last acknowledgement has arrived.
  while (listener.status().delivered < count) std::this_thread::yield();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  listener.stop();
  report(once ? "drain-once" : "drain", static_cast<double>(count) / seconds, "events/s",
         R"({"events":)" + std::to_string(count) + R"(,"workers":)" + std::to_string(threads) + R"(,"batch":)" +
             std::to_string(batch) + R"(,"handlers":)" + std::to_string(handlers) + "}");
  return 0;
}

}  // namespace sluice::bench
