// The overview as the console reads it. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ops/doctor.hpp"
#include "ops/overview_history.hpp"
#include "store/observe.hpp"

namespace sluice::ops {

struct OverviewView {
  Timestamp now{};
  const store::StoreGauges& gauges;
  std::optional<double> notify_queue_usage;
  OverviewSeries series;
  OverviewSeries last_minute;
  const std::vector<Finding>& attention;
  std::span<const double> latency_bounds;  ///< of the points' latencies, in seconds
  std::vector<OverviewMark> marks{};
};

std::string overview_json(const OverviewView& view);

}  // namespace sluice::ops
