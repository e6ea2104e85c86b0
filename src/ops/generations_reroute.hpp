// Rerouting: the pending events of one generation become due in another, batch after batch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ops/generations_status.hpp"

namespace sluice::ops {

struct ReroutePlan {
  GenerationStatus from;
  GenerationStatus to;
};

/// What would move. Refuses the same generation twice, and, where generations are allocated at all, a
/// target that is neither allocated nor live. Changes nothing.
Result<ReroutePlan> plan_reroute(store::Store& store, Generation from, Generation to);

struct RerouteReport {
  std::int64_t moved = 0;
  bool complete = false;        ///< nothing that could be moved is left
  std::optional<Error> failed;  ///< what ended it early; the batches before are moved
};

/// Called after each batch; false ends it.
using RerouteProgress = std::function<bool(std::int64_t moved)>;

/// Each batch is a transaction and an audit entry of its own, so that it can be stopped anywhere and
/// repeated. Events in flight stay where they are. Needs a reason.
RerouteReport reroute(store::Administering& store, const ReroutePlan& plan, int batch, const store::Actor& actor,
                      const RerouteProgress& go_on);

std::string to_json(const ReroutePlan& plan, const RerouteReport& report, bool dry_run);

}  // namespace sluice::ops
