// Drains a backlog through the public library: real listeners, handlers that do nothing.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

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

EventListener listener_of(const Options& options, int threads) {
  const int batch = static_cast<int>(options.number("batch", 1000));
  return must(EventListener::open({.store = options.text("dsn", ""),
                                   .generation = 1,
                                   .threads = threads,
                                   .batch = batch,
                                   .reaper = false,
                                   .tracer = tracer(options)}));
}

/// A worker process: waits for the word to begin, then tells again and again how many it has delivered, until it is
/// killed.
[[noreturn]] void work(const Options& options, int threads, int begin, int told) {
  char word = 0;
  if (::read(begin, &word, 1) != 1) ::_exit(1);
  EventListener listener = listener_of(options, threads);
  must(listener.listen({.handler_name = "billing.nothing", .idempotent = true}, [](const EventEnvelope&) {}));
  must(listener.start());
  for (std::int64_t before = 0;; std::this_thread::sleep_for(std::chrono::milliseconds{2})) {
    const std::int64_t delivered = listener.status().delivered;
    const std::int64_t more = delivered - before;
    if (more > 0 && ::write(told, &more, sizeof more) != static_cast<ssize_t>(sizeof more)) ::_exit(1);
    before = delivered;
  }
}

}  // namespace

int drain_processes(const Options& options) {
  const std::int64_t count = options.number("events", 200'000);
  const int processes = static_cast<int>(options.number("processes", 2));
  const int threads = static_cast<int>(options.number("workers", 1));
  fill(*open(options, 1), count);
  int begin[2];
  int told[2];
  if (::pipe(begin) != 0 || ::pipe(told) != 0) return 1;
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) work(options, threads, begin[0], told[1]);
  }
  const auto start = Clock::now();
  if (::write(begin[1], std::string(static_cast<std::size_t>(processes), 'b').data(),
              static_cast<std::size_t>(processes)) != processes) {
    return 1;
  }
  std::int64_t left = count;
  for (std::int64_t more = 0; left > 0 && ::read(told[0], &more, sizeof more) == sizeof more;) left -= more;
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  for (const pid_t child : children) ::kill(child, SIGKILL);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  report("drain-processes", static_cast<double>(count) / seconds, "events/s",
         R"({"processes":)" + std::to_string(processes) + R"(,"threads":)" + std::to_string(threads) + "}");
  return left == 0 ? 0 : 1;
}

int drain(const Options& options) {
  const std::int64_t count = options.number("events", 200'000);
  const int threads = static_cast<int>(options.number("workers", 2));
  const int batch = static_cast<int>(options.number("batch", 1000));
  const bool once = options.number("once", 0) != 0;
  const std::int64_t handlers = options.number("handlers", 1);
  if (options.number("fill", 1) != 0) {
    fill(*open(options, 1), count,
         {.keys = options.number("keys", 0),
          .months = options.number("months", 0),
          .mixed = options.number("mixed", 0) != 0});
  }
  if (options.number("drain", 1) == 0) return 0;

  Countdown left{count * handlers};
  EventListener listener = listener_of(options, threads);
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
