// How the runtime's parts report into the metrics. Without a MetricSet nothing is reported.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/history.hpp"
#include "runtime/alert_post.hpp"
#include "runtime/work.hpp"
#include "store/maintain.hpp"
#include "telemetry/metrics_set.hpp"

namespace sluice::runtime {

/// The eyes of one settler: holds on to the metrics of each handler, so that an event takes no lock.
///
/// Thread-safety: none; belongs to one worker.
class SettleObserver {
 public:
  /// Without metrics events still count in `history`, if there is one; the runs of handlers do not.
  explicit SettleObserver(telemetry::MetricSet* metrics, telemetry::DeliveryHistory* history = nullptr);

  /// The store took this long to settle a batch.
  void answered(Duration took);
  /// An event is settled, or was fenced: what its handlers did, and how long it took since it occurred or, if it was
  /// replayed, since then.
  void saw(const Work& work, bool fenced, std::chrono::steady_clock::time_point now);
  /// A batch is accounted for.
  void counted(const StepReport& report);

 private:
  struct OfHandler {
    telemetry::Histogram& duration;
    telemetry::Counter& handled;
    telemetry::Counter& failed;
    telemetry::Counter& deferred;
    telemetry::Counter& deduplicated;
  };
  OfHandler& of(const std::string& handler);

  /// The book's, remembered by kind: the events of a batch are of few series, and of one minute.
  HistoryCounts& counts(Timestamp at, HistoryKind kind, const std::string& name);
  struct Latest {
    Timestamp minute{};
    std::string name;
    HistoryCounts* counts = nullptr;
  };

  void measure(const Work& work);
  void record_runs(const Work& work, Timestamp at);
  void record_event(const Work& work, Timestamp at);

  telemetry::MetricSet* metrics_;
  telemetry::DeliveryHistory* history_;
  std::map<std::string, OfHandler, std::less<>> handlers_;
  HistoryBook book_;  // of a batch
  std::array<Latest, kHistoryKinds.size()> latest_{};
};

/// The eyes of one worker.
///
/// Thread-safety: none.
class ClaimObserver {
 public:
  explicit ClaimObserver(telemetry::MetricSet* metrics);

  void claimed(std::size_t events, int limit, Duration took);
  void refused();

 private:
  telemetry::DeliveryMetrics* metrics_ = nullptr;
  telemetry::Counter* full_ = nullptr;
  telemetry::Counter* partial_ = nullptr;
  telemetry::Counter* empty_ = nullptr;
  telemetry::Counter* error_ = nullptr;
};

/// What a round of the reaper did.
void count_reaped(telemetry::MetricSet* metrics, const StepReport& report, Timestamp now);
/// What a retention sweep did.
void count_swept(telemetry::MetricSet* metrics, const store::RetentionReport& report);

/// Brings metrics up to date with what is counted elsewhere: to be called before they are read.
void mirror(telemetry::MetricSet& metrics, const AlertStatus& status);

}  // namespace sluice::runtime
