// Overview: samples the store and the metrics every few seconds, keeps the last day, and tells it to the console.
//
// Looking at it asks nothing of the store: everything is answered from what the last samples saw. Deliveries,
// failures and latencies are those of this process; the rest is the store's.
//
// Thread-safety: step() from one thread; json() from any.
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include "core/ladder.hpp"
#include "ops/doctor.hpp"
#include "ops/overview_history.hpp"
#include "store/administer.hpp"
#include "telemetry/metrics_set.hpp"

namespace sluice::ops {

// What needs somebody's attention, from what a daemon sees anyway: the doctor's judgement without its long checks.

/// What was seen; a member is empty when it could not be.
struct Sight {
  std::string store;
  RetentionPolicies retention;
  store::StoreGauges gauges;
  std::optional<std::int64_t> unacknowledged;  ///< dead letters that nobody knows about; at most kDeadLook
  std::optional<store::Diagnosis> diagnosis;
  std::optional<LadderVerdict> ladder;
  std::vector<store::Deployment> deployments;
  std::vector<store::WorkerRecord> workers;  ///< that are alive
  std::vector<store::SinkRecord> stopped_sinks;
  std::optional<std::vector<store::UnsubscribedCount>> unsubscribed;  ///< none: not looked for
};

/// Pure. Without what is well; the most severe first.
std::vector<Finding> attention(const Sight& sight);

/// The page of the console that shows more about it: `/dlq`.
std::string link_of(FindingId id);

struct OverviewOptions {
  Duration look_interval = std::chrono::seconds{2};  ///< between two looks at the store
  Duration step = std::chrono::seconds{10};          ///< between two points of a chart
  Duration kept = std::chrono::hours{24};
  Duration glance_interval = std::chrono::seconds{30};  ///< between two looks at the database itself
  RetentionPolicies retention;
  Generation generation = kFirstGeneration;  ///< that this process serves
};

class Overview {
 public:
  /// The references outlive the overview.
  Overview(store::Administering& store, telemetry::MetricSet& metrics, OverviewOptions options);

  /// Takes a sample: the store's gauges into the metrics and, when it is time, a point into the charts. Says how
  /// long to rest. When the store does not answer, that is what the overview tells from then on.
  Result<Duration> step(Timestamp now);

  /// `window`: how far back the charts go.
  [[nodiscard]] std::string json(Duration window, Timestamp now) const;

 private:
  /// What has happened since the start, to tell what has happened since a point.
  struct Totals {
    std::uint64_t delivered = 0;
    std::uint64_t failed = 0;
    std::vector<std::uint64_t> latencies;
  };
  struct Seen {
    store::StoreGauges gauges;
    std::optional<double> notify_queue_usage;
    std::vector<OverviewMark> marks;
    std::vector<Finding> attention;
  };
  Result<void> look();
  Result<void> glance(Timestamp now);
  const std::set<Generation>& generations();
  [[nodiscard]] Totals totals() const;
  [[nodiscard]] OverviewPoint point(Timestamp now);

  store::Administering& store_;
  telemetry::MetricSet& metrics_;
  OverviewOptions options_;
  Sight sight_;
  std::set<Generation> generations_;  // whose gauges are shown
  std::optional<Timestamp> glanced_at_;
  // At the last point.
  std::optional<Timestamp> pointed_at_;
  std::optional<std::int64_t> newest_;
  Totals totals_;
  // The highest since then.
  std::int64_t backlog_ = 0;
  double lag_seconds_ = 0;
  mutable std::mutex mutex_;  // for what follows
  OverviewHistory history_;
  Seen seen_;
};

/// `10m`, `1h`, `6h` or `24h`; the error names `window`.
Result<Duration> parse_window(std::string_view text);

}  // namespace sluice::ops
