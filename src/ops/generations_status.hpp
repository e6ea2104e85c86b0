// What each generation has left to do, and whether anybody is there to do it.
#pragma once

#include <cstdint>
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

}  // namespace sluice::ops
