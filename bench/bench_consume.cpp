// A worker process beside the measured one: consumes until its standard input is closed.
#include <atomic>
#include <chrono>
#include <cstdio>

#include <sluice/listener.hpp>
#include "bench/bench.hpp"

namespace sluice::bench {

int consume(const Options& options) {
  const int threads = static_cast<int>(options.number("workers", 2));
  std::atomic<std::int64_t> handled{0};
  auto listener = must(EventListener::open({.store = options.text("dsn", ""), .generation = 1, .threads = threads}));
  must(listener.listen({.handler_name = "billing.nothing_1", .idempotent = true},
                       [&handled](const EventEnvelope&) { handled.fetch_add(1, std::memory_order_relaxed); }));
  must(listener.start());
  const auto start = std::chrono::steady_clock::now();
  std::printf("{\"ready\":true}\n");
  std::fflush(stdout);
  while (std::getchar() != EOF) continue;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::int64_t count = handled.load();
  listener.stop();
  report("consume", static_cast<double>(count) / seconds, "events/s", R"({"events":)" + std::to_string(count) + "}");
  return 0;
}

}  // namespace sluice::bench
