// What a reader who is not trusted with payloads sees of events: a summary without any payload, and the whole
// story with a redacted one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/redact.hpp"
#include "ops/dead_letters.hpp"
#include "ops/event_story.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

/// A payload that is larger after redaction is left out.
inline constexpr std::size_t kViewPayloadBytes = std::size_t{64} * 1024;

/// `{"events":[…],"next_cursor":…}`, without payloads and histories.
std::string summary_json(const DeadList& list, const RedactionPolicy& policy);

/// As to_json(EventStory) with everything redacted, plus `payload_bytes`, the size of the stored payload, and
/// `payload_omitted`: it is too large to show, and `payload` is null.
std::string redacted_json(const EventStory& story, const RedactionPolicy& policy);

/// As to_json of groups, the `most` most numerous ones; `omitted` counts the others.
struct GroupView {
  std::vector<store::FailureGroup> groups;
  std::size_t most = 0;
};
std::string redacted_json(GroupView view, const RedactionPolicy& policy);

}  // namespace sluice::ops
