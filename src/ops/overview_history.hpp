// The last day in points of a few seconds: what the overview's charts are drawn from. Bounded: the oldest points give
// way. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sluice/time.hpp>
#include "store/observe.hpp"

namespace sluice::ops {

struct OverviewPoint {
  Timestamp at{};
  std::int64_t backlog = 0;
  double lag_seconds = 0;
  // Since the point before.
  std::int64_t published = 0;
  std::int64_t delivered = 0;
  std::int64_t failed = 0;
  std::vector<std::uint64_t> latencies;  ///< per bucket of the latency histogram; empty: nothing was delivered
};

/// Points drawn together, so that a chart has no more than it can show.
struct OverviewSeries {
  Duration interval{};
  std::vector<OverviewPoint> points;  ///< oldest first; backlog and lag are the highest of what each stands for
};

class OverviewHistory {
 public:
  OverviewHistory(Duration step, Duration kept);

  void add(OverviewPoint point);
  [[nodiscard]] const std::deque<OverviewPoint>& points() const { return points_; }

  /// The points of the last `window` before `now`, at most `most` of them.
  [[nodiscard]] OverviewSeries series(Timestamp now, Duration window, std::size_t most) const;

 private:
  Duration step_;
  std::size_t most_;
  std::deque<OverviewPoint> points_;
};

// Percentiles from the buckets of a histogram. Pure.

/// The value below which the share `q` (0 to 1) of what was counted lies, taken as evenly spread within its bucket.
/// `counts` has one bucket more than there are bounds; what is in that one counts as the last bound. None: nothing
/// was counted.
std::optional<double> quantile(std::span<const double> bounds, std::span<const std::uint64_t> counts, double q);

// Moments that explain a bend in a chart: changes of generations, and replays.

struct OverviewMark {
  Timestamp at{};
  std::string kind;  ///< generation, replay
  std::string text;  ///< for people
  std::string link;  ///< `/operations/…`, `/generations`
};

/// From audit records, newest first; the marks are oldest first. Replays of single events by one person within ten
/// minutes are one mark. Pure.
std::vector<OverviewMark> marks_of(const std::vector<store::AuditRecord>& records);

std::string to_json(const OverviewMark& mark);

}  // namespace sluice::ops
