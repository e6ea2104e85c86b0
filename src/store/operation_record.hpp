// A bulk change of dead letters: its plan, its settings and how far it has come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/operation.hpp"
#include "store/event_record.hpp"

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
  EventFilter filter;           ///< as in list_dead; a restore takes discarded events instead
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

}  // namespace sluice::store
