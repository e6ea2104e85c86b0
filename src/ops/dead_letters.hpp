// The dead-letter queue as an operator reads it: groups first, then the list, then one event (event_story).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/event_list.hpp"
#include "store/store.hpp"

namespace sluice::ops {

struct DeadList {
  std::vector<store::EventRecord> events;  ///< newest failure first
  std::optional<std::string> next_cursor;  ///< none: this was the last page
};
Result<DeadList> list_dead(store::Triaging& store, const ListRequest& request);

/// A count that stays cheap however many there are.
struct DeadCount {
  std::int64_t count = 0;
  bool capped = false;  ///< there are at least this many
};
Result<DeadCount> count_dead(store::Triaging& store, const store::EventFilter& filter, std::int64_t cap);

/// open: nobody said that they know; came_back: somebody did, and it happened again since.
std::string_view state_of(const store::FailureGroup& group);

/// A kind of failure that somebody knows about, or that nobody does any more.
struct Acknowledged {
  std::string fingerprint;
  bool acknowledged = true;
  std::int64_t groups = 0;
};

std::string to_json(const Acknowledged& done);
std::string to_json(const DeadList& list);
std::string to_json(const DeadCount& count);
std::string to_json(const store::FailureGroup& group);
/// `{"groups":[…],"count":N}`
std::string to_json(const std::vector<store::FailureGroup>& groups);

}  // namespace sluice::ops
