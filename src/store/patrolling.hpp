// The store seam, patrolling: finds events that no claim will ever find and makes them claimable again, whatever
// stranded them.
//
// It should never find one. It is there so that a bug, a restored table or a hand-written statement costs minutes, and
// is seen, instead of costing an event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>

namespace sluice::store {

/// Why an event was stranded.
enum class StrandedCause {
  passed_over,   ///< pending and due, somebody wants it, and no claim looks where it is: made due
  no_claim,      ///< in flight, but nobody holds a claim that could run out: expired, for the reaper
  blocker_gone,  ///< it waited for an earlier event of its ordering key that is not in its way any more: released
};
/// The stable names, by StrandedCause.
inline constexpr std::array<std::string_view, 3> kStrandedCauses{"passed_over", "no_claim", "blocker_gone"};
constexpr std::string_view name(StrandedCause cause) { return kStrandedCauses[static_cast<std::size_t>(cause)]; }

/// None: there is no such cause.
constexpr std::optional<StrandedCause> parse_stranded_cause(std::string_view text) {
  for (std::size_t at = 0; at < kStrandedCauses.size(); ++at) {
    if (kStrandedCauses[at] == text) return static_cast<StrandedCause>(at);
  }
  return std::nullopt;
}

struct PatrolRequest {
  std::string holder;                                   ///< unique per process
  Duration lease = std::chrono::minutes{10};            ///< until then nobody else patrols; zero: hands it on
  Duration overlooked_after = std::chrono::minutes{1};  ///< what has been due for longer should have been claimed
  Duration settled_again = std::chrono::hours{24};      ///< numbers that were seen wholly settled rest for this long
  int rows = 5000;                                      ///< the most that one step looks at
};

struct PatrolStep {
  struct Healed {
    Uuid id;
    StrandedCause cause = StrandedCause::passed_over;
  };
  bool held = false;        ///< false: another process patrols, and nothing was done
  bool round_over = false;  ///< everything that is not settled has been looked at once more
  std::int64_t rows = 0;
  std::vector<Healed> healed;
};

class Patrolling {
 public:
  virtual ~Patrolling() = default;

  /// One bounded step of the walk, from where the last one ended, whichever process took it. What was healed is
  /// remembered for Diagnosis::stranded.
  virtual Result<PatrolStep> patrol(const PatrolRequest& request) = 0;
};

}  // namespace sluice::store
