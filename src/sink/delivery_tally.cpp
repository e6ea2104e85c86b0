#include "sink/delivery_tally.hpp"

#include <algorithm>
#include <vector>

namespace sluice::sink {
namespace {

// The nearest rank: a value that was really measured.
double percentile_ms(const std::vector<Duration>& sorted, std::size_t percent) {
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return std::chrono::duration<double, std::milli>{sorted[std::max<std::size_t>(rank, 1) - 1]}.count();
}

}  // namespace

DeliveryTally::UnderWay::UnderWay(DeliveryTally& tally, std::size_t events)
    : tally_(tally), events_(static_cast<std::int64_t>(events)) {
  const std::lock_guard lock{tally_.mutex_};
  tally_.in_flight_ += events_;
}

DeliveryTally::UnderWay::~UnderWay() {
  const std::lock_guard lock{tally_.mutex_};
  tally_.in_flight_ -= events_;
}

void DeliveryTally::record(std::span<const Verdict> verdicts, Timestamp now) {
  const std::lock_guard lock{mutex_};
  for (const Verdict& verdict : verdicts) {
    if (verdict.kind == Verdict::Kind::handled) ++delivered_;
    if (verdict.kind != Verdict::Kind::failed) continue;
    ++failed_;
    last_error_ = verdict.error_class + ": " + verdict.message;
    last_failed_at_ = now;
  }
}

void DeliveryTally::record_latency(Duration took) {
  const std::lock_guard lock{mutex_};
  latencies_[recorded_++ % kRemembered] = took;
}

void DeliveryTally::describe(SinkStatus& status) const {
  const std::lock_guard lock{mutex_};
  status.in_flight = in_flight_;
  status.delivered = delivered_;
  status.failed = failed_;
  status.last_error = last_error_;
  status.last_failed_at = last_failed_at_;
  if (recorded_ == 0) return;
  const auto end = latencies_.begin() + static_cast<std::ptrdiff_t>(std::min(recorded_, kRemembered));
  std::vector<Duration> sorted{latencies_.begin(), end};
  std::sort(sorted.begin(), sorted.end());
  status.p50_ms = percentile_ms(sorted, 50);
  status.p95_ms = percentile_ms(sorted, 95);
}

}  // namespace sluice::sink
