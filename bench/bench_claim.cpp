// How long one claim takes, on the store seam: claim a batch, time it, settle it, until the backlog is gone.
#include <chrono>
#include <mutex>
#include <thread>

#include "bench/bench.hpp"

namespace sluice::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Times {
  std::vector<double> claims;   ///< ms
  std::vector<double> settles;  ///< ms
};

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

std::vector<store::SettleItem> delivered(const std::vector<store::ClaimedEvent>& events) {
  std::vector<store::SettleItem> items;
  items.reserve(events.size());
  for (const store::ClaimedEvent& event : events)
    items.push_back({.claim = event.claim, .settlement = {}, .handled_by = {}, .idempotency_key = {}});
  return items;
}

Times work_off(store::Claiming& store, const store::ClaimRequest& request) {
  Times times;
  for (;;) {
    const auto claiming = Clock::now();
    const auto events = must(store.claim(request));
    if (events.empty()) return times;
    times.claims.push_back(milliseconds_since(claiming));
    const auto settling = Clock::now();
    (void)must(store.settle(delivered(events)));
    times.settles.push_back(milliseconds_since(settling));
  }
}

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::string both(const std::string& name, const std::vector<double>& values) {
  return '"' + name + R"(_p50":)" + std::to_string(percentile(values, 0.5)) + ",\"" + name + R"(_p99":)" +
         std::to_string(percentile(values, 0.99));
}

}  // namespace

int claim_latency(const Options& options) {
  const std::int64_t count = options.number("events", 20'000);
  const int workers = static_cast<int>(options.number("workers", 1));
  const int batch = static_cast<int>(options.number("batch", 100));
  const auto store = open(options, workers);
  fill(*store, count);
  Times all;
  std::mutex mutex;
  std::vector<std::jthread> threads;
  for (int i = 0; i < workers; ++i) {
    threads.emplace_back([&, i] {
      const Times mine = work_off(*store, {.generation = 1,
                                           .worker = "bench-" + std::to_string(i),
                                           .limit = batch,
                                           .interests = {{.event_type = "*", .context = "billing", .channel = {}}},
                                           .handlers = {"billing.nothing_1"}});
      const std::lock_guard lock{mutex};
      append(all.claims, mine.claims);
      append(all.settles, mine.settles);
    });
  }
  threads.clear();
  report("claim-latency", percentile(all.claims, 0.5), "ms",
         "{" + both("claim", all.claims) + "," + both("settle", all.settles) + R"(,"batches":)" +
             std::to_string(all.claims.size()) + R"(,"batch":)" + std::to_string(batch) + "}");
  return 0;
}

}  // namespace sluice::bench
