// Everything that is known about one event, and what happened to it in order.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.hpp"

namespace sluice::ops {

/// One closed cycle: an entry of failure_history.
struct FailedCycle {
  std::int64_t cycle = 0;
  std::int64_t attempts = 0;
  std::string last_error;
  std::optional<Timestamp> first_failed_at;
  std::optional<Timestamp> failed_at;
  std::optional<Timestamp> replayed_at;
  std::string replayed_by;
};

/// Lenient: members that are missing or of another type are left empty, because rows are also
/// written by hand.
std::vector<FailedCycle> read_history(std::string_view failure_history);

struct Moment {
  Timestamp at{};
  std::string what;    ///< occurred, published, first_failed, failed, replayed, claimed, handled, …
  std::string detail;  ///< for people
};

struct EventStory {
  store::EventRecord event;
  std::vector<store::HandledRecord> handled;
  std::vector<store::AuditRecord> audit;
  std::vector<Moment> timeline;  ///< by time
};

/// The timeline is derived: the row keeps the current cycle, history the closed ones.
std::vector<Moment> timeline(const store::EventRecord& event, const std::vector<store::HandledRecord>& handled,
                             const std::vector<store::AuditRecord>& audit);

Result<EventStory> tell_story(store::Administering& store, const Uuid& id);

}  // namespace sluice::ops
