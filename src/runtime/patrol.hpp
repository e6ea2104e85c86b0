// Patrol: walks what is kept, in small steps, and heals events that no claim would ever find. Each one is an error in
// the log and counted: it should not have happened.
//
// One process patrols a database at a time; the others ask now and then whether it still does.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <sluice/result.hpp>
#include "store/maintain.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics_set.hpp"

namespace sluice::runtime {

struct PatrolOptions {
  bool enabled = true;
  Duration interval = std::chrono::minutes{3};          ///< from the beginning of one round to that of the next
  Duration overlooked_after = std::chrono::minutes{1};  ///< due for longer, and nobody has claimed it
  Duration settled_again = std::chrono::hours{24};      ///< what was seen wholly settled is read again after this long
  int rows = 5000;                                      ///< the most that one step looks at
  /// Default: std::chrono::steady_clock.
  std::function<std::chrono::steady_clock::time_point()> clock{};

  /// The error names the member.
  [[nodiscard]] Result<void> validate() const;
};

/// What the rest after a step depends on.
struct PatrolPace {
  Duration took{};         ///< the step, by the clock on the wall
  Duration round_began{};  ///< this long ago
  bool held = true;
  bool round_over = false;
};

/// Fifty times as long as the step took, so that all of it together is less than 2 % of a core, and long enough that no
/// more than 10,000 rows are read in a second; between two rounds what is left of the interval, if that is longer.
Duration patrol_rest(const PatrolPace& pace, const PatrolOptions& options);

class Patrol {
 public:
  /// `holder` is unique per process. The store outlives the patrol, and so do the metrics, which may be null.
  Patrol(store::Maintaining& store, std::string holder, telemetry::Logger logger, telemetry::MetricSet* metrics,
         PatrolOptions options);

  struct Report {
    Duration rest{};  ///< before the next step
    std::size_t healed = 0;
  };
  Result<Report> step();

  /// Lets another process patrol at once.
  void hand_on();

 private:
  [[nodiscard]] store::PatrolRequest request(Duration lease) const;
  void tell(const std::vector<store::PatrolStep::Healed>& healed) const;

  store::Maintaining& store_;
  std::string holder_;
  telemetry::Logger logger_;
  telemetry::MetricSet* metrics_;
  PatrolOptions options_;
  std::chrono::steady_clock::time_point round_began_;
  Duration rest_{};  // before this step
  bool held_ = false;
};

}  // namespace sluice::runtime
