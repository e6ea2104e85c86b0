// One SQLite file through the public library: many publishers at once, and a backlog to drain. bench_sqlite_raw.cpp
// has the plain statements that both are held against.
#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

#include <sluice/listener.hpp>
#include <sluice/publisher.hpp>
#include "bench/bench.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace sluice::bench {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

int sqlite_publish(const Options& options) {
  const auto sessions = static_cast<int>(options.number("sessions", 8));
  const auto duration = std::chrono::milliseconds{options.number("milliseconds", 5000)};
  auto publisher = must(EventPublisher::open({.store = "sqlite:" + file_of(options), .generation = 1}));
  std::atomic<std::int64_t> published{0};
  const auto start = Clock::now();
  std::vector<std::jthread> threads;
  for (int i = 0; i < sessions; ++i) {
    threads.emplace_back([&, end = start + duration] {
      std::int64_t mine = 0;
      for (; Clock::now() < end; ++mine) must(publisher.publish(sample_events(1).front().envelope));
      published += mine;
    });
  }
  threads.clear();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  report("sqlite-publish", static_cast<double>(published.load()) / seconds, "commits/s",
         R"({"sessions":)" + std::to_string(sessions) + "}");
  return 0;
}

int sqlite_drain(const Options& options) {
  const std::int64_t count = options.number("events", 100'000);
  const auto threads = static_cast<int>(options.number("sessions", 2));
  const auto batch = static_cast<int>(options.number("batch", 100));
  fill(*must(store::open_sqlite({.path = file_of(options)})), count);

  std::latch left{count};
  auto listener = must(EventListener::open({.store = "sqlite:" + file_of(options),
                                            .generation = 1,
                                            .threads = threads,
                                            .batch = batch,
                                            .reaper = false,
                                            .retention = false}));
  must(listener.listen({.handler_name = "billing.nothing", .idempotent = true},
                       [&left](const EventEnvelope&) { left.count_down(); }));
  const auto start = Clock::now();
  must(listener.start());
  left.wait();
  // Over when the last acknowledgement has arrived.
  while (listener.status().delivered < count) std::this_thread::yield();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  listener.stop();
  report("sqlite-drain", static_cast<double>(count) / seconds, "events/s",
         R"({"events":)" + std::to_string(count) + R"(,"sessions":)" + std::to_string(threads) + R"(,"batch":)" +
             std::to_string(batch) + "}");
  return 0;
}

}  // namespace sluice::bench
