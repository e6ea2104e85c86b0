// Publishing through the store: one event per commit from many sessions, and in batches.
#include <atomic>
#include <chrono>
#include <thread>

#include <sluice/publisher.hpp>
#include "bench/bench.hpp"

namespace sluice::bench {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

int publish_single(const Options& options) {
  const int sessions = static_cast<int>(options.number("sessions", 8));
  const auto duration = std::chrono::milliseconds{options.number("milliseconds", 5000)};
  auto publisher = must(EventPublisher::open(
      {.store = options.text("dsn", ""), .generation = 1, .connections = sessions, .tracer = tracer(options)}));
  std::atomic<std::int64_t> published{0};
  const auto start = Clock::now();
  std::vector<std::jthread> threads;
  for (int i = 0; i < sessions; ++i) {
    threads.emplace_back([&] {
      const auto end = start + duration;
      while (Clock::now() < end) {
        for (const store::NewEvent& event : sample_events(16)) {
          must(publisher.publish(event.envelope));
          published.fetch_add(1, std::memory_order_relaxed);
        }
      }
    });
  }
  threads.clear();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  report("publish-single", static_cast<double>(published.load()) / seconds, "commits/s",
         R"({"sessions":)" + std::to_string(sessions) + "}");
  return 0;
}

int publish_batch(const Options& options) {
  const int sessions = static_cast<int>(options.number("sessions", 2));
  const auto size = static_cast<std::size_t>(options.number("size", 1000));
  const std::int64_t count = options.number("events", 200'000);
  const auto store = open(options, sessions);
  // Made beforehand: the bench is about the store.
  std::vector<std::vector<store::NewEvent>> batches;
  for (std::int64_t made = 0; made < count; made += static_cast<std::int64_t>(size))
    batches.push_back(sample_events(size));
  std::atomic<std::size_t> next{0};
  const auto start = Clock::now();
  std::vector<std::jthread> threads;
  for (int i = 0; i < sessions; ++i) {
    threads.emplace_back([&] {
      for (std::size_t mine = next++; mine < batches.size(); mine = next++) (void)must(store->publish(batches[mine]));
    });
  }
  threads.clear();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  report("publish-batch", static_cast<double>(batches.size() * size) / seconds, "events/s",
         R"({"sessions":)" + std::to_string(sessions) + R"(,"size":)" + std::to_string(size) + "}");
  return 0;
}

}  // namespace sluice::bench
