// The store seam, triaging: the dead letters, that is events with status failed that are not discarded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include "store/administering.hpp"

namespace sluice::store {

/// A place in the list of dead letters, which runs from the newest failure to the oldest.
struct DeadCursor {
  Timestamp failed_at{};
  std::int64_t seq = 0;

  bool operator==(const DeadCursor&) const = default;
};

struct DeadPage {
  std::vector<EventRecord> events;
  std::optional<DeadCursor> next;  ///< none: this was the last page
};

/// Dead letters that failed in the same way: one event type, source, target, error class and fingerprint.
struct FailureGroup {
  std::string event_type;
  std::string source;
  std::optional<std::string> target;
  std::string error_class;
  std::string fingerprint;
  std::string sample_error;     ///< the first error of the group, as it was
  std::int64_t count = 0;       ///< dead letters that match the filter
  Timestamp first_failed_at{};  ///< of these
  Timestamp last_failed_at{};
  Generation first_generation = 0;
  Generation last_generation = 0;
  Timestamp first_seen_at{};  ///< when an event failed like this for the first time ever
  std::int64_t replayed = 0;  ///< events of the group that were ever replayed
  std::optional<Timestamp> acknowledged_at;
  std::string acknowledged_by;
  std::string acknowledged_reason;
  std::int64_t came_back = 0;                      ///< of `count`: failed after the acknowledgement
  std::optional<Generation> came_back_generation;  ///< of the newest of these
};

class Triaging {
 public:
  virtual ~Triaging() = default;

  /// The filter's `since` and `until` are times of failure here; its `status` and `include_deleted` are
  /// not looked at.
  virtual Result<DeadPage> list_dead(const EventFilter& filter, int limit, const std::optional<DeadCursor>& after) = 0;
  /// At most `limit`: a count that costs no more than that.
  virtual Result<std::int64_t> count_dead(const EventFilter& filter, std::int64_t limit) = 0;
  /// At most `limit` of the dead letters that nobody knows about: of groups that are not acknowledged, and what failed
  /// after its group was.
  virtual Result<std::int64_t> count_unacknowledged(std::int64_t limit) = 0;
  /// The fingerprints of failures that begin so, each once, in order; at most `limit`.
  virtual Result<std::vector<std::string>> fingerprints(const std::string& prefix, int limit) = 0;
  /// The most numerous first.
  virtual Result<std::vector<FailureGroup>> failure_groups(const EventFilter& filter) = 0;

  /// Marks every group with this fingerprint as known, or as not known again; returns how many there are.
  /// not_found when nothing ever failed like that. Needs a reason.
  virtual Result<std::int64_t> acknowledge(const std::string& fingerprint, bool known, const Actor& actor) = 0;
};

}  // namespace sluice::store
