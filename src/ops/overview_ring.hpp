// The last day in points of a few seconds: what the overview's charts are drawn from. Bounded: the oldest points give
// way. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <sluice/time.hpp>

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

class OverviewRing {
 public:
  OverviewRing(Duration step, Duration kept);

  void add(OverviewPoint point);
  [[nodiscard]] const std::deque<OverviewPoint>& points() const { return points_; }

  /// The points of the last `window` before `now`, at most `most` of them.
  [[nodiscard]] OverviewSeries series(Timestamp now, Duration window, std::size_t most) const;

 private:
  Duration step_;
  std::size_t most_;
  std::deque<OverviewPoint> points_;
};

}  // namespace sluice::ops
