// Where the events are kept, how much there is, and what retention takes away.
#pragma once

#include <functional>
#include <string>

#include "core/retention.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

/// Called between two batches; false ends the sweep.
using SweepProgress = std::function<bool(const store::RetentionReport& so_far)>;

struct SweepOrder {
  RetentionPolicies policies;
  int batch = 1000;
  store::Actor actor;
};

/// Refuses policies that would break dedup. `more` in the report: it was ended early.
Result<store::RetentionReport> sweep_retention(store::Maintaining& store, const SweepOrder& order,
                                               const SweepProgress& go_on);

/// The same counts, as far as `limit` rows of each kind; `more` in the report: there are more. Changes nothing.
Result<store::RetentionReport> preview_sweep(store::Maintaining& store, const RetentionPolicies& policies, int limit);

std::string to_json(const store::RetentionReport& report, bool dry_run);

// Where the events are kept, how much there is, and what retention would take away next.

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
