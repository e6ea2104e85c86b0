// The overview as the console reads it. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/doctor.hpp"
#include "ops/history.hpp"
#include "ops/overview_marks.hpp"
#include "store/observe.hpp"

namespace sluice::ops {

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
