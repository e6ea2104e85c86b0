// Bulk changes of dead letters: plan, look at the plan, start it, steer it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/entropy.hpp"
#include "ops/event_query.hpp"
#include "ops/replay_preview.hpp"
#include "store/administer.hpp"

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

/// More events per second are no pace, and no canary is larger.
inline constexpr int kMostPerSecond = 1'000'000;

/// The error names the setting as `rate`, `canary` or `stop_percent`.
Result<void> check_settings(const OperationSettings& settings);

/// How fast an operation goes on.
struct OperationPace {
  std::optional<double> per_second;  ///< events with an outcome, on average since it started
  std::optional<Duration> left;      ///< at that pace, or at its rate if slower; none: nothing moves, or too early
};
OperationPace pace_of(const store::OperationRecord& operation, Timestamp now);

/// Another operation that runs or is paused and still has events of this one before it. A plan that nobody has started
/// is none: it stands in nobody's way, and whoever starts it is told.
struct Overlap {
  Uuid operation_id;
  std::string filter;
  std::int64_t events = 0;  ///< among the next kOverlapLook of that operation, and the first of a plan
};
inline constexpr std::int64_t kOverlapLook = 20'000;
/// Of a plan; none of one that was started: who starts it is to know, before.
Result<std::vector<Overlap>> overlaps_of(store::Administering& store, const store::OperationRecord& operation);
/// `12 events are also in operation 0196…, which is under way: …`
std::string in_words(const Overlap& overlap);

struct BulkPlan {
  /// A total of 0: nothing matches, and nothing was kept. Its id is the token that starts it.
  store::OperationRecord operation;
  std::optional<ReplayPreview> preview;  ///< of a replay that has events
  std::vector<Overlap> overlaps;         ///< whoever starts it should know
};

/// Freezes the set. The preview is made from it.
Result<BulkPlan> plan_bulk(store::Administering& store, const BulkRequest& request, const store::Actor& actor,
                           const host::Entropy& entropy, const ContractSet* contracts = nullptr);

struct BulkForecast {
  std::int64_t count = 0;  ///< at most kForecastCap
  bool capped = false;
  std::optional<Generation> to_generation;
  std::optional<ReplayPreview> preview;  ///< of a replay that has events
  std::vector<Overlap> overlaps;         ///< as those of the plan would be
};
inline constexpr std::int64_t kForecastCap = 1'000'000;
/// What a plan would hold: a dry run that changes no event. By query it writes nothing at all; events by id, and
/// discarded ones, are looked up by a plan that is over at once, never listed and forgotten with the others.
Result<BulkForecast> forecast_bulk(store::Administering& store, const BulkRequest& request, const store::Actor& actor,
                                   const host::Entropy& entropy, const ContractSet* contracts = nullptr);

/// What whoever starts a plan may set anew; none: as it was planned.
struct NewSettings {
  std::optional<int> rate;
  std::optional<int> canary;
  std::optional<int> stop_percent;
};
[[nodiscard]] OperationSettings changed(OperationSettings settings, const NewSettings& anew);

struct StartRequest {
  Uuid id;
  std::int64_t count = 0;  ///< how many events the plan holds, as a confirmation
  NewSettings settings;
  std::optional<OperationKind> kind;  ///< refuse a plan of another kind; none: any will do
};
/// As Operating::start_operation. Needs a reason; refuses settings as check_settings does.
Result<store::OperationRecord> start_operation(store::Administering& store, const StartRequest& request,
                                               const store::Actor& actor);
/// The plan or operation that a start would begin with: not_found, or invalid (field `token`) when it is of another
/// kind.
Result<store::OperationRecord> find_plan(store::Administering& store, const Uuid& id,
                                         std::optional<OperationKind> kind);
/// Pause, resume, cancel, or another rate. conflict when its state does not allow it.
Result<store::OperationRecord> steer_operation(store::Administering& store, const Uuid& id,
                                               const store::OperationChange& change, const store::Actor& actor);

Result<store::OperationRecord> find_operation(store::Administering& store, const Uuid& id);

/// Refuses what is neither an operation's id nor at least kShortestId digits of its beginning. Nothing is looked up.
Result<void> check_operation_id(std::string_view given, std::string_view field);
/// The operation that is meant: by its whole id, or by the beginning of exactly one of the latest kMaxPage. The error
/// names `field`: not_found when none begins so, invalid when several do.
Result<Uuid> whole_operation_id(store::Administering& store, std::string_view given, std::string_view field);
/// Newest first; at most kMaxPage.
Result<std::vector<store::OperationRecord>> list_operations(store::Administering& store, int limit);
struct ItemPage {
  std::vector<store::OperationItem> items;
  std::optional<std::int64_t> next_after;  ///< none: this was the last page
};
/// What became of its events, by place, from the one behind `after` on.
Result<ItemPage> list_items(store::Administering& store, const Uuid& id, int limit, std::int64_t after);

/// With its pace, where `now` is given; else those members are null.
std::string to_json(const store::OperationRecord& operation, std::optional<Timestamp> now = {});
std::string to_json(const store::OperationRecord& operation, const std::vector<Overlap>& overlaps, Timestamp now);
/// `{"operations":[…]}`
std::string to_json(const std::vector<store::OperationRecord>& operations, std::optional<Timestamp> now = {});
std::string to_json(const store::OperationItem& item);
std::string to_json(const ItemPage& page);
std::string to_json(const BulkPlan& plan);
std::string to_json(const BulkForecast& forecast, OperationKind kind);

}  // namespace sluice::ops
