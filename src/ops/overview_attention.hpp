// What needs somebody's attention, from what a daemon sees anyway: the doctor's judgement without its long look.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/doctor.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

/// What was seen; a member is empty when it could not be.
struct Sight {
  std::string store;
  RetentionPolicies retention;
  store::StoreGauges gauges;
  std::optional<std::int64_t> unacknowledged;  ///< dead letters that nobody knows about; at most kDeadLook
  std::optional<store::Diagnosis> diagnosis;
  std::vector<store::Deployment> deployments;
  std::vector<store::WorkerRecord> workers;  ///< that are alive
  std::vector<store::SinkRecord> stopped_sinks;
  std::optional<std::vector<store::UnsubscribedCount>> unsubscribed;  ///< none: not looked for
};

/// Pure. Without what is well; the most severe first.
std::vector<Finding> attention(const Sight& sight);

/// The page of the console that shows more about it: `/dlq`.
std::string link_of(FindingId id);

}  // namespace sluice::ops
