// Moments that explain a bend in a chart: changes of generations, and replays. Pure.
#pragma once

#include <string>
#include <vector>

#include <sluice/time.hpp>
#include "store/observe.hpp"

namespace sluice::ops {

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
