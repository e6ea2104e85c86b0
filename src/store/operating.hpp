// The store seam, operating: bulk changes of dead letters, frozen as a plan and carried out in bounded,
// atomic steps, so that a crash anywhere leaves each event changed once or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/operation.hpp"
#include "store/administering.hpp"

namespace sluice::store {

struct OperationRecord {
  Uuid id;
  OperationProgress progress;
  std::string filter;                       ///< as the operator wrote it; for people
  std::optional<Generation> to_generation;  ///< of a replay
  Actor actor;                              ///< who planned it; from the start on: who started it
  std::string note;                         ///< why it stopped
  std::string executor;                     ///< who carries it out, or did last
  Timestamp planned_at{};
  Timestamp expires_at{};  ///< a plan that was not started by then cannot be any more
  std::optional<Timestamp> started_at;
  std::optional<Timestamp> ended_at;
};

struct OperationItem {
  std::int64_t place = 0;  ///< from 1
  Uuid event_id;
  std::string state;  ///< waiting, in_flight, delivered, failed_again, skipped, changed
};

struct PlanRequest {
  Uuid id;
  OperationKind kind = OperationKind::replay;
  EventFilter filter;           ///< as in Triaging; a restore takes discarded events instead
  std::vector<Uuid> event_ids;  ///< not empty: these instead of the filter
  std::string filter_text;
  std::optional<Generation> to_generation;  ///< required for a replay
  OperationSettings settings;
  Duration valid_for = std::chrono::minutes{15};
  std::int64_t most = 0;  ///< refused (invalid, field `filter`) when the set is larger; 0: no limit
  Actor actor;
};

struct OperationChange {
  enum class What { pause, resume, cancel, rate };
  What what = What::pause;
  int rate = 0;
};

class Operating {
 public:
  virtual ~Operating() = default;

  /// Freezes the set, in insert order. An empty set is returned with a total of 0 and not kept. Nothing but
  /// the plan is written; plans that expired more than a day ago, and operations that ended more than
  /// sixty days ago, are forgotten on the way.
  virtual Result<OperationRecord> plan_operation(const PlanRequest& request) = 0;
  virtual Result<OperationRecord> operation(const Uuid& id) = 0;  ///< not_found when there is none
  /// Newest first, planned ones that expired left out.
  virtual Result<std::vector<OperationRecord>> operations(int limit) = 0;
  /// By place, from the one behind `after` on.
  virtual Result<std::vector<OperationItem>> operation_items(const Uuid& id, int limit, std::int64_t after) = 0;

  /// planned → running, with one audit record. Refused: conflict when it is not planned, has expired, or when
  /// an event of the set is no longer as it was; invalid (field `count`) when `confirmed` is not the total.
  virtual Result<OperationRecord> start_operation(const Uuid& id, std::int64_t confirmed,
                                                  const OperationSettings& settings, const Actor& actor) = 0;
  /// conflict when the state does not allow it. Audited.
  virtual Result<OperationRecord> change_operation(const Uuid& id, const OperationChange& change,
                                                   const Actor& actor) = 0;

  /// The operations that nobody else carries out and that run, or that were paused or ended while events were in flight:
  /// those are still to be counted. Oldest first.
  virtual Result<std::vector<Uuid>> runnable_operations(const std::string& executor) = 0;
  /// Takes or renews the right to carry it out, and looks what became of the events in flight. conflict
  /// while somebody else holds it. One that has ended is only counted.
  virtual Result<OperationRecord> hold_operation(const Uuid& id, const std::string& executor, Duration lease) = 0;
  /// Acts on the next `limit` events in one transaction; those that moved since the plan are passed over and
  /// counted. conflict unless it is running and `executor` holds it.
  virtual Result<OperationRecord> advance_operation(const Uuid& id, const std::string& executor, int limit,
                                                    Timestamp paced_at) = 0;
  /// running → stopped or finished. conflict unless it is running and `executor` holds it.
  virtual Result<OperationRecord> end_operation(const Uuid& id, const std::string& executor, OperationState to,
                                                const std::string& note) = 0;
  /// Lets somebody else carry it out at once.
  virtual Result<void> release_operation(const Uuid& id, const std::string& executor) = 0;
};

}  // namespace sluice::store
