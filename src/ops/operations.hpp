// Bulk changes of dead letters: plan, look at the plan, start it, steer it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/entropy.hpp"
#include "ops/event_query.hpp"
#include "ops/replay_preview.hpp"
#include "store/store.hpp"

namespace sluice::ops {

struct BulkRequest {
  OperationKind kind = OperationKind::replay;
  EventQuery query;
  std::vector<Uuid> except;                 ///< of the query: not these
  std::vector<Uuid> event_ids;              ///< not empty: these instead of the query
  std::optional<Generation> to_generation;  ///< of a replay; none: the store's newest live one
  OperationSettings settings;
  std::int64_t most = 0;  ///< refuse a larger set; 0: no limit
  Duration valid_for = std::chrono::minutes{15};
};

/// The error names the setting as `rate`, `canary` or `stop_percent`.
Result<void> check_settings(const OperationSettings& settings);

struct BulkPlan {
  /// A total of 0: nothing matches, and nothing was kept. Its id is the token that starts it.
  store::OperationRecord operation;
  std::optional<ReplayPreview> preview;  ///< of a replay that has events
};

/// Freezes the set. The preview is made from it.
Result<BulkPlan> plan_bulk(store::Store& store, const BulkRequest& request, const store::Actor& actor,
                           const host::Entropy& entropy, const ContractSet* contracts = nullptr);

struct BulkForecast {
  std::int64_t count = 0;  ///< at most kForecastCap
  bool capped = false;
  std::optional<Generation> to_generation;
  std::optional<ReplayPreview> preview;  ///< of a replay that has events
};
inline constexpr std::int64_t kForecastCap = 1'000'000;
/// What a plan would hold: a dry run that changes no event. By query it writes nothing at all; events by id, and
/// discarded ones, are looked up by a plan that is over at once, never listed and forgotten with the others.
Result<BulkForecast> forecast_bulk(store::Store& store, const BulkRequest& request, const store::Actor& actor,
                                   const host::Entropy& entropy, const ContractSet* contracts = nullptr);

std::string to_json(const store::OperationRecord& operation);
std::string to_json(const store::OperationItem& item);
std::string to_json(const BulkPlan& plan);
std::string to_json(const BulkForecast& forecast, OperationKind kind);

}  // namespace sluice::ops
