#include "ops/overview_ring.hpp"

#include <algorithm>
#include <utility>

namespace sluice::ops {
namespace {

void merge(OverviewPoint& into, const OverviewPoint& point) {
  into.backlog = std::max(into.backlog, point.backlog);
  into.lag_seconds = std::max(into.lag_seconds, point.lag_seconds);
  into.published += point.published;
  into.delivered += point.delivered;
  into.failed += point.failed;
  if (into.latencies.empty()) {
    into.latencies = point.latencies;
    return;
  }
  for (std::size_t at = 0; at < point.latencies.size(); ++at) into.latencies[at] += point.latencies[at];
}

}  // namespace

OverviewRing::OverviewRing(Duration step, Duration kept) : step_(step), most_(static_cast<std::size_t>(kept / step)) {}

void OverviewRing::add(OverviewPoint point) {
  // A clock that was set back must not make time run backwards in a chart.
  while (!points_.empty() && points_.back().at >= point.at) points_.pop_back();
  points_.push_back(std::move(point));
  if (points_.size() > most_) points_.pop_front();
}

OverviewSeries OverviewRing::series(Timestamp now, Duration window, std::size_t most) const {
  const auto steps = std::max<Duration::rep>(window / step_, 1);
  const auto together = (steps + static_cast<Duration::rep>(most) - 1) / static_cast<Duration::rep>(most);
  OverviewSeries series{step_ * together, {}};
  // Aligned to the clock, so that points do not change their partners from one look to the next.
  const auto slot = [&](Timestamp at) { return at.time_since_epoch() / series.interval; };
  std::optional<Duration::rep> current;
  for (const OverviewPoint& point : points_) {
    if (point.at <= now - window || point.at > now) continue;
    if (current == slot(point.at)) {
      merge(series.points.back(), point);
      continue;
    }
    current = slot(point.at);
    series.points.push_back(point);
    if (together > 1) series.points.back().at = Timestamp{series.interval * *current};
  }
  // The window may begin in the middle of a slot.
  if (series.points.size() > most) series.points.erase(series.points.begin());
  return series;
}

}  // namespace sluice::ops
