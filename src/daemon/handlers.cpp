#include "daemon/handlers.hpp"

#include <chrono>
#include <utility>

#include "daemon/delivery.hpp"
#include "sink/pace.hpp"

namespace sluice::daemon {
namespace {

void record(const Outlet& outlet, const std::vector<Verdict>& verdicts, Duration took) {
  HistoryBook book;
  HistoryCounts& counts = book.at(outlet.board.clock()(), HistoryKind::sink, outlet.name);
  for (const Verdict& verdict : verdicts) {
    if (verdict.kind != Verdict::Kind::handled && verdict.kind != Verdict::Kind::failed) continue;
    ++(verdict.kind == Verdict::Kind::handled ? counts.delivered : counts.failed);
    counts.first.add(took);
  }
  outlet.metrics.history.add(book);
}

EventHandler delivering_to(Outlet outlet, double rate) {
  const auto pace = std::make_shared<sink::Pace>(rate);
  return [outlet = std::move(outlet), pace](std::span<const EventEnvelope> events, const ::sluice::Delivery& delivery) {
    return pace->deliver(events, [&](std::span<const EventEnvelope> due) {
      const auto began = std::chrono::steady_clock::now();
      auto verdicts = outlet.sink->deliver(due, delivery);
      const auto took = std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began);
      // Before the events are settled: a receiver that is gone is known to be gone after a crash too.
      outlet.board.report(outlet.name);
      outlet.metrics.traffic.sink_delivered(outlet.name, verdicts, took);
      record(outlet, verdicts, took);
      return verdicts;
    });
  };
}

}  // namespace

runtime::RegisteredHandler handler_of(const config::SubscriptionConfig& subscription, Outlet outlet) {
  return {.subscription = {.handler_name = subscription.handler_name,
                           .event_types = subscription.event_types,
                           .context = subscription.target},
          .handler = delivering_to(std::move(outlet), subscription.rate),
          .retry = subscription.retry,
          .timeout = subscription.timeout,
          .concurrency = subscription.concurrency,
          .delivers_each = true};
}

runtime::RegisteredHandler log_everything(Outlet log, const RetryPolicy& retry) {
  return {.subscription = {.handler_name = std::string{kLogHandler}},
          .handler = delivering_to(std::move(log), 0),
          .retry = retry,
          .delivers_each = true};
}

}  // namespace sluice::daemon
