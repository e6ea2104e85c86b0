#include "runtime/telemetry.hpp"

#include <algorithm>

namespace sluice::runtime {
namespace {

using Seconds = std::chrono::duration<double>;

void add(telemetry::Family<telemetry::Counter>& family, const char* label, std::int64_t events) {
  if (events > 0) family.with({label}).add(static_cast<std::uint64_t>(events));
}

// From when the event occurred, or was last replayed: what lay between is how long it was a dead letter. A publisher
// whose clock is ahead is no time machine.
Duration latency_of(const store::ClaimedEvent& event, Timestamp delivered_at) {
  return std::max(delivered_at - event.replayed_at.value_or(event.envelope.occurred_at()), Duration::zero());
}

}  // namespace

SettleObserver::SettleObserver(telemetry::MetricSet* metrics, telemetry::DeliveryHistory* history)
    : metrics_(metrics), history_(metrics != nullptr ? &metrics->history : history) {}

SettleObserver::OfHandler& SettleObserver::of(const std::string& handler) {
  if (const auto found = handlers_.find(handler); found != handlers_.end()) return found->second;
  telemetry::DeliveryMetrics& delivery = metrics_->delivery;
  return handlers_
      .emplace(
          handler,
          OfHandler{delivery.handler_duration.with({handler}), delivery.handler_runs.with({handler, "handled"}),
                    delivery.handler_runs.with({handler, "failed"}), delivery.handler_runs.with({handler, "deferred"}),
                    delivery.handler_runs.with({handler, "deduplicated"})})
      .first->second;
}

void SettleObserver::answered(Duration took) {
  if (metrics_ != nullptr) metrics_->delivery.settle_duration->observe(Seconds{took}.count());
}

void SettleObserver::saw(const Work& work, bool fenced, std::chrono::steady_clock::time_point now) {
  if (history_ == nullptr) return;
  const Timestamp at = work.store_time(now);
  if (!fenced) record_event(work, at);
  if (metrics_ == nullptr) return;
  record_runs(work, at);
  measure(work);
  if (fenced || work.decision.settlement.next != Status::delivered) return;
  const Seconds latency = latency_of(work.event, at);
  if (work.event.replay > 0) return metrics_->delivery.replay_latency->observe(latency.count());
  metrics_->delivery.handled_latency->observe(latency.count());
  if (work.event.fresh) metrics_->delivery.first_attempt_latency->observe(latency.count());
}

void SettleObserver::measure(const Work& work) {
  for (const HandlerNote& note : work.notes) {
    OfHandler& handler = of(note.handler_name);
    if (note.deduplicated) {
      handler.deduplicated.add();
      continue;
    }
    if (note.traceparent.empty()) {
      handler.duration.observe(Seconds{note.time.took}.count());
    } else {
      handler.duration.observe(Seconds{note.time.took}.count(), note.traceparent, work.store_now());
    }
    const bool failed = note.outcome.kind == Outcome::Kind::failed;
    const bool handled = note.outcome.kind == Outcome::Kind::handled;
    (handled ? handler.handled : failed ? handler.failed : handler.deferred).add();
  }
}

HistoryCounts& SettleObserver::counts(Timestamp at, HistoryKind kind, const std::string& name) {
  const Timestamp minute = std::chrono::floor<std::chrono::minutes>(at);
  Latest& latest = latest_.at(static_cast<std::size_t>(kind));
  if (latest.counts == nullptr || latest.minute != minute || latest.name != name) {
    latest = {minute, name, &book_.at(at, kind, name)};
  }
  return *latest.counts;
}

void SettleObserver::record_runs(const Work& work, Timestamp at) {
  for (const HandlerNote& note : work.notes) {
    if (note.deduplicated || note.handler_name.empty()) continue;
    HistoryCounts& handler = counts(at, HistoryKind::handler, note.handler_name);
    const bool failed = note.outcome.kind == Outcome::Kind::failed;
    if (!failed && note.outcome.kind != Outcome::Kind::handled) continue;
    ++(failed ? handler.failed : handler.delivered);
    handler.first.add(note.time.took);
  }
}

// An event counts once, where it is settled: of what a broker carries that is at the relay, and its consumers add the
// runs of their handlers and what they fail.
void SettleObserver::record_event(const Work& work, Timestamp at) {
  const Settlement& settlement = work.decision.settlement;
  const bool relayed = work.event.claim.claim_seq == 0;
  for (HistoryCounts* seen :
       {&counts(at, HistoryKind::all, {}), &counts(at, HistoryKind::type, work.event.envelope.event_type())}) {
    if (settlement.next == Status::failed) ++seen->failed;
    if (settlement.next == Status::pending && settlement.cause == Cause::retry) ++seen->retried;
    if (settlement.next != Status::delivered || relayed) continue;
    ++seen->delivered;
    seen->replayed += work.event.replay > 0 ? 1 : 0;
    DurationHistogram& latencies = work.event.replay > 0 ? seen->replays : work.event.fresh ? seen->first : seen->later;
    latencies.add(latency_of(work.event, at));
  }
}

void SettleObserver::counted(const StepReport& report) {
  if (history_ == nullptr) return;
  history_->add(book_);
  book_.clear();
  latest_ = {};
  if (metrics_ == nullptr) return;
  auto& settled = metrics_->delivery.settled;
  add(settled, "delivered", report.delivered - report.deduplicated);
  add(settled, "deduplicated", report.deduplicated);
  add(settled, "retried", report.retried);
  add(settled, "failed", report.failed);
  add(settled, "released", report.released);
  add(settled, "fenced", report.fenced);
  for (const auto& [error_class, runs] : report.failures_by_class) {
    metrics_->delivery.handler_failures.with({error_class}).add(static_cast<std::uint64_t>(runs));
  }
}

ClaimObserver::ClaimObserver(telemetry::MetricSet* metrics) {
  if (metrics == nullptr) return;
  metrics_ = &metrics->delivery;
  full_ = &metrics_->claims.with({"full"});
  partial_ = &metrics_->claims.with({"partial"});
  empty_ = &metrics_->claims.with({"empty"});
  error_ = &metrics_->claims.with({"error"});
}

void ClaimObserver::claimed(std::size_t events, int limit, Duration took) {
  if (metrics_ == nullptr) return;
  metrics_->claim_duration->observe(Seconds{took}.count());
  if (events == 0) return empty_->add();
  (events >= static_cast<std::size_t>(limit) ? full_ : partial_)->add();
  metrics_->claimed_events->add(events);
  metrics_->claim_batch->observe(static_cast<double>(events));
}

void ClaimObserver::refused() {
  if (metrics_ != nullptr) error_->add();
}

void count_reaped(telemetry::MetricSet* metrics, const StepReport& report, Timestamp now) {
  if (metrics == nullptr) return;
  add(metrics->delivery.reaped, "retried", report.retried);
  add(metrics->delivery.reaped, "failed", report.failed);
  add(metrics->delivery.reaped, "fenced", report.fenced);
  if (report.failed + report.retried == 0) return;
  HistoryBook book;
  HistoryCounts& all = book.at(now, HistoryKind::all);
  all.failed = report.failed;
  all.retried = report.retried;
  metrics->history.add(book);
}

void count_swept(telemetry::MetricSet* metrics, const store::RetentionReport& report) {
  if (metrics == nullptr) return;
  add(metrics->delivery.swept, "tombstoned", report.outbox_tombstoned);
  add(metrics->delivery.swept, "deleted", report.outbox_deleted);
  add(metrics->delivery.swept, "handled", report.handled_deleted);
  metrics->delivery.failed_swept->add(static_cast<std::uint64_t>(report.failed_swept));
}

void mirror(telemetry::MetricSet& metrics, const AlertStatus& status) {
  telemetry::AlertMetrics& alerts = metrics.alerts;
  // What no channel has seen yet.
  alerts.dropped.with({"queue"}).follow(status.dropped);
  alerts.queued.with({"queue"}).set(static_cast<double>(status.queued));
  alerts.suppressed->follow(status.suppressed);
  for (const AlertChannelStatus& channel : status.channels) {
    alerts.sent.with({channel.name}).follow(channel.sent);
    alerts.failed.with({channel.name}).follow(channel.failed);
    alerts.dropped.with({channel.name}).follow(channel.dropped);
    alerts.queued.with({channel.name}).set(static_cast<double>(channel.queued));
  }
}

}  // namespace sluice::runtime
