#include "runtime/ladder.hpp"

#include <algorithm>

#include "core/try.hpp"

namespace sluice::runtime {

LadderSample sample_of(const store::Diagnosis& diagnosis) {
  LadderSample sample;
  if (!diagnosis.server) return sample;
  const store::ServerFacts& server = *diagnosis.server;
  sample.rows = server.outbox ? std::optional{server.outbox->live_rows} : std::nullopt;
  if (server.outbox) sample.dead_rows = server.outbox->dead_rows;
  if (server.notify) sample.notify_queue = server.notify->queue_usage;
  if (server.xmin) {
    sample.snapshot_seconds = 0;
    for (const store::XminHolder& holder : *server.xmin) {
      const auto& age = holder.session.transaction_age;
      if (!age) continue;
      sample.snapshot_seconds =
          std::max(*sample.snapshot_seconds, std::chrono::floor<std::chrono::seconds>(*age).count());
    }
  }
  return sample;
}

LadderLog::LadderLog(store::Observing& observing, store::Maintaining& maintaining, telemetry::MetricSet& metrics)
    : observing_(observing), maintaining_(maintaining), metrics_(metrics), written_(delivered()) {}

std::vector<std::uint64_t> LadderLog::delivered() const {
  return metrics_.delivery.first_attempt_latency->snapshot().counts;
}

Result<void> LadderLog::step() {
  SLUICE_TRY(const auto diagnosis, observing_.diagnose(store::DiagnosisDepth::glance));
  LadderSample sample = sample_of(diagnosis);
  // Only a file is counted by its numbers: on a server the gauges would read every event that this process has not
  // seen, and the last step of a process is on its way out.
  if (!diagnosis.server) {
    SLUICE_TRY(const auto gauges, observing_.gauges());
    sample.rows = gauges.newest == 0 ? 0 : gauges.newest - gauges.oldest + 1;
  }
  std::vector<std::uint64_t> now = delivered();
  if (now != written_) {
    for (std::size_t at = 0; at < now.size(); ++at) {
      sample.latencies.push_back(static_cast<std::int64_t>(now[at] - written_[at]));
    }
  }
  SLUICE_CHECK(maintaining_.record_ladder(sample));
  written_ = std::move(now);
  return {};
}

void LadderLog::flush() {
  if (delivered() != written_) (void)step();
}

}  // namespace sluice::runtime
