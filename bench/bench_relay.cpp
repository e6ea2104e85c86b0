// Deliveries through a broker: how fast the relay publishes a backlog, how fast a handler consumes it, and how soon one
// event is handled.
#include <atomic>
#include <chrono>
#include <thread>

#include <sluice/listener.hpp>
#include "bench/bench.hpp"
#include "bench/relaying.hpp"
#include "broker/open_broker.hpp"
#include "host/identity.hpp"
#include "runtime/broker_message.hpp"

namespace sluice::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPublishTime{60};

std::unique_ptr<broker::Broker> open_broker_of(const Options& options) {
  return must(broker::open_broker({.urls = {options.text("broker", "")}}));
}

std::string kind_of(const Options& options) {
  return options.text("broker", "").starts_with("redis") ? "redis" : "nats";
}

double per_second(std::int64_t count, Clock::time_point start) {
  return static_cast<double>(count) / std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Relaying::Relaying(const Options& options) : store_(open(options, 8)), broker_(open_broker_of(options)) {
  must(broker_->ensure({}));
  const Subscription wanted{"billing.nothing", {"*"}, std::nullopt, std::nullopt};
  must(store_->subscribe(1, std::span{&wanted, 1}, "bench"));
  must(store_->switch_relay(store::RelayState::on, kind_of(options), {"bench", "bench", "measured"}));
  options_.worker.identity = host::fresh_identity();
  options_.worker.uniform01 = [] { return 0.5; };
  options_.reap = false;
  options_.sweep = false;
  options_.patrol.enabled = false;
  options_.broker = {.broker = broker_.get(), .kind = kind_of(options), .relay = true};
  options_.broker.relay_workers = static_cast<int>(options.number("threads", 2));
  options_.broker.relay_batch = static_cast<int>(options.number("batch", 500));
}

void Relaying::start() {
  supervisor_ = must(runtime::Supervisor::start(*store_, std::vector<runtime::PoolOptions>{}, {}, options_));
}

std::int64_t Relaying::relayed() const { return supervisor_->totals().delivered; }

int relay(const Options& options) {
  const std::int64_t count = options.number("events", 200'000);
  fill(*open(options, 1), count);
  Relaying relaying{options};
  const auto start = Clock::now();
  relaying.start();
  while (relaying.relayed() < count) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  report("relay", per_second(count, start), "events/s", R"({"events":)" + std::to_string(count) + "}");
  return 0;
}

// The messages are there before the clock begins.
int broker_consume(const Options& options) {
  constexpr std::int64_t kBatch = 5000;
  const std::int64_t count = options.number("events", 200'000);
  Relaying relaying{options};
  const auto broker = open_broker_of(options);
  for (std::int64_t done = 0; done < count; done += kBatch) {
    std::vector<broker::OutgoingMessage> messages;
    for (store::NewEvent& event : sample_events(static_cast<std::size_t>(std::min(kBatch, count - done)))) {
      store::ClaimedEvent claimed{std::move(event.envelope), {}, 1, event.channel, {}, 0, {}, {}};
      messages.push_back(runtime::to_message(claimed, 0, {*broker, 16}));
    }
    for (auto& taken : broker->publish(messages, kPublishTime, {})) must(std::move(taken));
  }
  std::atomic<std::int64_t> handled = 0;
  EventListener listener = must(EventListener::open({.store = options.text("dsn", ""),
                                                     .generation = 1,
                                                     .threads = static_cast<int>(options.number("threads", 2)),
                                                     .batch = static_cast<int>(options.number("batch", 500)),
                                                     .reaper = false,
                                                     .broker = {.urls = {options.text("broker", "")}}}));
  must(listener.listen({.handler_name = "billing.nothing", .context = "*", .idempotent = true},
                       [&handled](const EventEnvelope&) { handled.fetch_add(1, std::memory_order_relaxed); }));
  const auto start = Clock::now();
  must(listener.start());
  while (handled < count) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  report("broker-consume", per_second(count, start), "events/s", R"({"events":)" + std::to_string(count) + "}");
  return 0;
}

}  // namespace sluice::bench
