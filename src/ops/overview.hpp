// Overview: samples the store every few seconds, follows its history, and tells both to the console.
//
// Looking at it asks nothing of the store: everything is answered from what the last samples saw. The charts are of all
// processes, and reach back beyond the start of this one; what this process has not written yet is part of them. The
// tiles of the last minute are of this process.
//
// Thread-safety: step() from one thread; json() from any.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include "core/ladder.hpp"
#include "ops/doctor.hpp"
#include "ops/history.hpp"
#include "ops/overview_marks.hpp"
#include "store/administer.hpp"
#include "store/observe.hpp"
#include "telemetry/metrics_set.hpp"

namespace sluice::ops {

// What needs somebody's attention, from what a daemon sees anyway: the doctor's judgement without its long checks.

/// What was seen; a member is empty when it could not be.
struct Sight {
  std::string store;
  RetentionPolicies retention;
  DeadLetterLevels dead_letter_levels;
  store::StoreGauges gauges;
  std::optional<std::int64_t> unacknowledged;  ///< dead letters that nobody knows about; at most kDeadLook
  std::optional<store::Diagnosis> diagnosis;
  std::optional<LadderVerdict> ladder;
  std::vector<store::Deployment> deployments;
  std::vector<store::WorkerRecord> workers;                           ///< that are alive
  std::vector<store::SinkRecord> sinks;                               ///< all of them
  std::vector<store::SinkRecord> stopped_sinks;                       ///< of these: somebody waits for them
  std::optional<std::vector<store::UnsubscribedCount>> unsubscribed;  ///< none: not looked for
};

/// Pure. Without what is well; the most severe first.
std::vector<Finding> attention(const Sight& sight);

/// The page of the console that shows more about it: `/dlq`.
std::string link_of(FindingId id);

struct OverviewOptions {
  Duration look_interval = std::chrono::seconds{2};     ///< between two looks at the store
  Duration glance_interval = std::chrono::seconds{30};  ///< between two looks at the database itself
  RetentionPolicies retention;
  DeadLetterLevels dead_letters;
  Generation generation = kFirstGeneration;  ///< that this process serves
};

class Overview {
 public:
  /// The references outlive the overview.
  Overview(store::Administering& store, telemetry::MetricSet& metrics, OverviewOptions options);

  /// Takes a sample: the store's gauges into the metrics and into the history, and the history into the charts. Says
  /// how long to rest. When the store does not answer, that is what the overview tells from then on.
  Result<Duration> step(Timestamp now);

  /// `window`: how far back the charts go.
  [[nodiscard]] std::string json(const ChartWindow& window, Timestamp now) const;

 private:
  /// What had happened since the start, when it was seen.
  struct Totals {
    Timestamp at{};
    std::uint64_t delivered = 0;
    std::uint64_t failed = 0;
  };
  using Rows = std::map<Timestamp, HistoryCounts>;
  struct Seen {
    store::StoreGauges gauges;
    std::optional<double> notify_queue_usage;
    std::vector<store::SinkRecord> sinks;
    std::vector<OverviewMark> marks;
    std::vector<Finding> attention;
  };
  Result<void> look();
  Result<void> glance(Timestamp now);
  void record_gauges();
  Result<void> follow_history();
  Result<void> follow(Rows& rows, bool hourly);
  const std::set<Generation>& generations();
  [[nodiscard]] Totals totals(Timestamp now) const;
  [[nodiscard]] std::vector<HistoryRow> chart_rows(bool hourly) const;

  store::Administering& store_;
  telemetry::MetricSet& metrics_;
  OverviewOptions options_;
  Sight sight_;
  std::set<Generation> generations_;  // whose gauges are shown
  std::optional<Timestamp> glanced_at_;
  std::optional<std::uint64_t> followed_;  // writes of this process that the charts know
  mutable std::mutex mutex_;               // for what follows
  std::deque<Totals> last_minute_;
  Rows minutes_;
  Rows hours_;
  Seen seen_;
};

// The overview as the console reads it. Pure.

struct OverviewView {
  Timestamp now{};
  const store::StoreGauges& gauges;
  std::optional<double> notify_queue_usage;
  const ChartWindow& window;
  std::vector<ChartPoint> points;
  const std::vector<Finding>& attention;
  const std::vector<store::SinkRecord>& sinks;
  std::int64_t delivered = 0;  ///< in the last minute, by this process
  std::int64_t failed = 0;
  std::vector<OverviewMark> marks{};
};

std::string overview_json(const OverviewView& view);

}  // namespace sluice::ops
