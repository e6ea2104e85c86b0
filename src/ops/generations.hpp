// Deployment generations: what each has left to do, what a change of them does, and moving events between them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "store/administer.hpp"

namespace sluice::ops {

struct GenerationStatus {
  Generation generation = 0;
  std::optional<GenerationState> state;  ///< none: events carry the number, but nobody allocated it
  std::int64_t pending = 0;
  std::int64_t waiting = 0;  ///< of pending: not yet due
  std::int64_t in_flight = 0;
  std::int64_t delivered = 0;
  std::int64_t failed = 0;
  std::optional<Timestamp> oldest_pending;
  std::int64_t workers = 0;  ///< that are alive
  // Which of them are estimates. That nothing is pending never is one.
  bool pending_estimated = false;
  bool delivered_estimated = false;
  bool failed_estimated = false;

  /// What has to be finished before the generation can go. Failed events are finished.
  [[nodiscard]] std::int64_t left() const { return pending + in_flight; }
  /// Events are left and no worker takes them: on a draining generation this is an alarm.
  [[nodiscard]] bool abandoned() const { return left() > 0 && workers == 0; }
};

/// `12`, `about 1230000`
std::string count_text(std::int64_t count, bool estimated);
/// The names of the figures among pending, delivered and failed that are estimates.
std::vector<std::string> estimates(const GenerationStatus& status);
/// `live`, `draining, 120 left`, `draining, 120 left, NO WORKER`.
std::string in_words(const GenerationStatus& status);
std::string to_json(const GenerationStatus& status);
/// The deployment, then what is left of it.
std::string to_json(const store::Deployment& deployment, const GenerationStatus& status);

struct GenerationSurvey {
  Timestamp now{};
  std::vector<GenerationStatus> generations;  ///< ascending: those with events or workers, and those allocated
  std::vector<store::Deployment> deployments;
  std::vector<store::WorkerRecord> workers;  ///< that are alive
  std::int64_t discarded = 0;
  bool discarded_estimated = false;

  /// Nothing left and nobody there when the survey has none.
  [[nodiscard]] GenerationStatus of(Generation generation) const;
};
Result<GenerationSurvey> survey_generations(store::Administering& store);

// Deployment generations: what a change of them would do.

/// What allocating would yield; conflict when `wanted` exists already. Changes nothing.
Result<Generation> preview_allocation(store::Administering& store, std::optional<Generation> wanted);

/// The next free number, or `wanted`; conflict when that exists already.
Result<store::Deployment> allocate_generation(store::Administering& store, std::optional<Generation> wanted,
                                              const std::string& note, const store::Actor& actor);

/// Where events go of those who name no generation: the newest live one.
Result<Generation> default_generation(store::Administering& store);

/// Generation 1 needs no deployment. Others that nobody allocated get only events that name them.
Result<bool> is_allocated(store::Administering& store, Generation generation);

/// Nobody claims events of a retired generation.
Result<bool> is_retired(store::Administering& store, Generation generation);

/// A generation after a change, or as it was found.
struct MovedGeneration {
  store::Deployment deployment;
  bool changed = true;  ///< false: it was there already, and nothing was written
};
/// To `to`; a deployment that is repeated finds the generation where it left it, which is no error.
Result<MovedGeneration> move_generation(store::Administering& store, Generation generation, GenerationState to,
                                        const store::Actor& actor);

/// The deployment as it is now, which may be in `to` already; not_found when there is none, conflict when it may not go
/// there. Changes nothing.
Result<store::Deployment> preview_move(store::Administering& store, Generation generation, GenerationState to);

/// The error for a generation that nobody allocated.
Error unknown_generation(Generation generation);

std::string to_json(const store::Deployment& deployment);

// Rerouting: the pending events of one generation become due in another, batch after batch.

struct ReroutePlan {
  GenerationStatus from;
  GenerationStatus to;
};

/// What would move. Refuses the same generation twice, and, where generations are allocated at all, a
/// target that is neither allocated nor live. Changes nothing.
Result<ReroutePlan> plan_reroute(store::Administering& store, Generation from, Generation to);

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
