// How long rows are kept, as data, and the inequality that keeps dedup correct.
#pragma once

#include <sluice/result.hpp>
#include <sluice/time.hpp>

namespace sluice {

/// Rows are active for `active`, then tombstoned for `grace`, then deleted.
struct RetentionPolicy {
  Duration active;
  Duration grace;
};

struct RetentionPolicies {
  RetentionPolicy outbox{std::chrono::days{45}, std::chrono::days{7}};
  RetentionPolicy event_handled{std::chrono::days{60}, std::chrono::days{7}};

  /// Refuses unless event_handled.active > outbox.active + outbox.grace: a dedup row must outlive
  /// every replay of its event.
  [[nodiscard]] Result<void> validate() const;
};

}  // namespace sluice
