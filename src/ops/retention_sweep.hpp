// A retention sweep on demand: batch after batch until nothing is left to do.
#pragma once

#include <functional>
#include <string>

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

}  // namespace sluice::ops
