// Where the events are kept, how much there is, and what retention would take away next.
#pragma once

#include <string>

#include "core/retention.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

struct StorageReport {
  std::string store;
  bool embedded = false;
  store::StoreGauges gauges;
  store::Diagnosis diagnosis;  ///< a glance
  RetentionPolicies policies;
  store::RetentionReport preview;  ///< what a sweep would do now, as far as kPreviewRows of each kind
};
inline constexpr int kPreviewRows = 1000;

/// Bounded: nothing in it counts the whole table.
Result<StorageReport> report_storage(store::Administering& store, const RetentionPolicies& policies);

std::string to_json(const StorageReport& report);

}  // namespace sluice::ops
