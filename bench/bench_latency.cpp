// From the return of a commit to the entry of the handler, on an idle system, one event at a time.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include <sluice/listener.hpp>
#include <sluice/publisher.hpp>
#include "bench/bench.hpp"
#include "bench/relaying.hpp"

namespace sluice::bench {
namespace {

using Clock = std::chrono::steady_clock;

class Entry {
 public:
  void enter() {
    const auto now = Clock::now();
    const std::lock_guard lock{mutex_};
    at_ = now;
    ++entered_;
    changed_.notify_all();
  }
  Clock::time_point wait(std::int64_t number) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return entered_ >= number; });
    return at_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t entered_ = 0;
  Clock::time_point at_;
};

}  // namespace

int latency(const Options& options) {
  const std::int64_t count = options.number("events", 2'000);
  const std::int64_t warm_up = count / 10;
  Entry entry;
  ListenerOptions wanted{.store = options.text("dsn", ""), .generation = 1, .threads = 2};
  std::optional<Relaying> relaying;
  if (const std::string broker = options.text("broker", ""); !broker.empty()) {
    wanted.broker.urls = {broker};
    relaying.emplace(options);
    relaying->start();
  }
  auto listener = must(EventListener::open(std::move(wanted)));
  must(listener.listen({.handler_name = "billing.nothing", .idempotent = true},
                       [&entry](const EventEnvelope&) { entry.enter(); }));
  must(listener.start());
  auto publisher = must(EventPublisher::open({.store = options.text("dsn", ""), .generation = 1}));

  std::vector<double> milliseconds;
  std::mt19937 random{42};
  // The same pauses as the peer: long enough to be idle, not in step with anything.
  std::uniform_int_distribution<int> pause{1'000, 4'000};
  for (std::int64_t number = 1; number <= count + warm_up; ++number) {
    std::this_thread::sleep_for(std::chrono::microseconds{pause(random)});
    const auto event = sample_events(1).front().envelope;
    must(publisher.publish(event));
    const auto committed = Clock::now();
    const auto entered = entry.wait(number);
    if (number > warm_up)
      milliseconds.push_back(std::chrono::duration<double, std::milli>(entered - committed).count());
  }
  listener.stop();
  report("latency", percentile(milliseconds, 0.5), "ms",
         R"({"p50":)" + std::to_string(percentile(milliseconds, 0.5)) + R"(,"p99":)" +
             std::to_string(percentile(milliseconds, 0.99)) + R"(,"events":)" + std::to_string(count) + "}");
  return 0;
}

}  // namespace sluice::bench
