// Claim and settle a backlog with a handler that does nothing: what the queue itself costs.
#include <atomic>
#include <chrono>
#include <thread>

#include "bench/bench.hpp"

namespace sluice::bench {
namespace {

using Clock = std::chrono::steady_clock;

void fill(store::Store& store, std::int64_t count, Generation generation) {
  for (std::int64_t done = 0; done < count; done += 5000) {
    (void)must(
        store.publish(sample_events(static_cast<std::size_t>(std::min<std::int64_t>(5000, count - done)), generation)));
  }
}

// One worker: claim, "handle", settle, until the backlog is gone.
std::int64_t work(store::Store& store, store::ClaimRequest request, bool record_handled,
                  std::atomic<std::int64_t>& left) {
  std::int64_t mine = 0;
  while (left.load(std::memory_order_relaxed) > 0) {
    const auto events = must(store.claim(request));
    if (events.empty()) continue;
    std::vector<store::SettleItem> items;
    items.reserve(events.size());
    for (const store::ClaimedEvent& event : events) {
      store::SettleItem item;
      item.claim = event.claim;
      item.settlement = settle(event.attempts, Outcome::handled(), RetryPolicy::standard(), 0.5);
      if (record_handled) {
        item.handled_by = {"bench.nothing"};
        item.idempotency_key = event.envelope.idempotency_key();
      }
      items.push_back(std::move(item));
    }
    const auto report = must(store.settle(items));
    mine += report.settled;
    left.fetch_sub(report.settled, std::memory_order_relaxed);
  }
  return mine;
}

}  // namespace

int drain(const Options& options) {
  const std::int64_t count = options.number("events", 200'000);
  const int workers = static_cast<int>(options.number("workers", 2));
  const bool record_handled = options.number("once", 0) != 0;
  const auto store = open(options, workers + 1);
  if (options.number("fill", 1) != 0) fill(*store, count, 1);
  if (options.number("drain", 1) == 0) return 0;

  std::atomic<std::int64_t> left{count};
  const auto start = Clock::now();
  std::vector<std::jthread> threads;
  for (int i = 0; i < workers; ++i) {
    threads.emplace_back([&, i] {
      store::ClaimRequest request;
      request.worker = "bench-" + std::to_string(i);
      request.limit = static_cast<int>(options.number("batch", 100));
      (void)work(*store, request, record_handled, left);
    });
  }
  threads.clear();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  report("drain", static_cast<double>(count) / seconds, "events/s",
         R"({"events":)" + std::to_string(count) + R"(,"workers":)" + std::to_string(workers) + R"(,"batch":)" +
             std::to_string(options.number("batch", 100)) + "}");
  return 0;
}

}  // namespace sluice::bench
