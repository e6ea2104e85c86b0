#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "bench/bench.hpp"
#include "library/opening.hpp"

namespace sluice::bench {

Options::Options(int argc, char** argv, int first) {
  for (int i = first; i + 1 < argc; i += 2) {
    std::string name = argv[i];
    if (!name.starts_with("--")) {
      std::fprintf(stderr, "sluice_bench: expected --name value, got %s\n", argv[i]);
      std::exit(2);
    }
    values_[name.substr(2)] = argv[i + 1];
  }
}

std::int64_t Options::number(const std::string& name, std::int64_t otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : std::stoll(found->second);
}

std::string Options::text(const std::string& name, const std::string& otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : found->second;
}

void fail(const Error& error) {
  std::fprintf(stderr, "sluice_bench: %s\n", error.message.c_str());
  std::exit(1);
}

std::unique_ptr<store::Store> open(const Options& options, int connections) {
  return std::move(must(library::open_store(options.text("dsn", ""), connections)).store);
}

std::vector<store::NewEvent> sample_events(std::size_t count, Generation generation, const Occurring& occurring) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  thread_local UuidV7Sequence ids;
  const std::string channel = compose_channel(generation).value();
  std::vector<store::NewEvent> events;
  events.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Timestamp now = std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
    std::array<std::uint8_t, 10> bytes{};
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    EnvelopeDraft draft;
    draft.event_id = ids.next(now, bytes);
    draft.event_type = "bench.order.placed";
    draft.occurred_at = occurring ? occurring(i) : now;
    draft.source = "bench";
    draft.target = "billing";
    draft.payload =
        R"({"order_id": )" + std::to_string(random() % 100'000'000) +
        R"(, "customer": "c-1742", "currency": "EUR", "total": "129.90", "lines": [{"sku": "A-100", "quantity": 2}, )"
        R"({"sku": "B-220", "quantity": 1}], "note": "leave it with the neighbour"})";
    events.push_back({.envelope = EventEnvelope::make(std::move(draft)).value(),
                      .generation = generation,
                      .channel = channel,
                      .ordering_key = {},
                      .not_before = {},
                      .delay = {}});
  }
  return events;
}

namespace {

// Where in time the event at `place` of `count` lies.
Timestamp occurrence(const Backlog& backlog, std::int64_t place, std::int64_t count) {
  const std::int64_t month = backlog.mixed ? place % backlog.months : place * backlog.months / count;
  const std::chrono::year_month_day today{std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())};
  const auto first =
      std::chrono::sys_days{today.year() / today.month() / 1 - std::chrono::months{backlog.months - 1 - month}};
  return first + std::chrono::milliseconds{place};
}

}  // namespace

void fill(store::Store& store, std::int64_t count, const Backlog& backlog) {
  constexpr std::int64_t kBatch = 5000;
  std::mt19937_64 random{1};
  for (std::int64_t done = 0; done < count; done += kBatch) {
    Occurring occurring;
    if (backlog.months > 0) {
      occurring = [&](std::size_t i) { return occurrence(backlog, done + static_cast<std::int64_t>(i), count); };
    }
    auto events = sample_events(static_cast<std::size_t>(std::min(kBatch, count - done)), 1, occurring);
    for (std::size_t i = 0; backlog.keys > 0 && i < events.size(); i += 2) {
      events[i].ordering_key = "order-" + std::to_string(random() % static_cast<std::uint64_t>(backlog.keys));
    }
    (void)must(store.publish(events));
  }
}

double percentile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

void report(std::string_view bench, double value, std::string_view unit, std::string_view detail_json) {
  std::printf(R"({"bench":"%.*s","value":%.1f,"unit":"%.*s","detail":%.*s})"
              "\n",
              static_cast<int>(bench.size()), bench.data(), value, static_cast<int>(unit.size()), unit.data(),
              static_cast<int>(detail_json.size()), detail_json.data());
}

}  // namespace sluice::bench
