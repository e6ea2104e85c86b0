// Events as JSON: for the surfaces, and those that leave the house, without what is private.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/redact.hpp"
#include "ops/dead_letters.hpp"
#include "ops/event_query.hpp"
#include "ops/event_story.hpp"
#include "ops/publish_event.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

// Events that leave the house: NDJSON without what is private, and a fixture with a test that reproduces one
// failure.

/// The same envelope around another payload.
EventEnvelope with_payload(const EventEnvelope& envelope, std::string payload);

/// Errors quote what they choked on: where every value is private, only the normalised text leaves.
std::string redacted_error(const std::string& error, const RedactionPolicy& policy);
/// Payload, error and history.
store::EventRecord redacted(const store::EventRecord& event, const RedactionPolicy& policy);

/// The event's JSON as everywhere, its payload and errors redacted.
std::string export_json(const store::EventRecord& event, const RedactionPolicy& policy);

struct Repro {
  std::string name;     ///< `billing_invoice_paid_5f6a7b8c`: the stem of both files
  std::string fixture;  ///< the redacted envelope, for EventEnvelope::from_json
  std::string test;     ///< C++ with GoogleTest: reads the fixture; the handler's call is left to the developer
};
Repro make_repro(const store::EventRecord& event, const RedactionPolicy& policy);

// The JSON of events, the same on every surface. Field names are stable; the payload is as the store has it.

/// The envelope's members in their pinned order, then those of the row.
std::string to_json(const store::EventRecord& event);
/// The event's members plus `handled`, `audit` and `timeline`.
std::string to_json(const EventStory& story);
/// The same without `payload`, for whoever takes it in another form, and without those in `failure_history`; the
/// replays that changed it are in `edited_by_replay`.
std::string payloadless_json(const EventStory& story);
/// `{"events":[…],"next_cursor":…}`
std::string to_json(const EventList& list);
/// `{"events":[…],"next_cursor":…}` of events without `payload` and `failure_history`, which a list need not carry.
std::vector<std::string> event_heads(const std::vector<store::EventRecord>& events);
std::string heads_json(const std::vector<store::EventRecord>& events, const std::optional<std::string>& next_cursor);
/// The envelope's members plus the routing and `outcome`: published, duplicate or, given none, `planned`.
std::string to_json(const store::NewEvent& event, std::optional<store::PublishOutcome> outcome);

std::string to_json(const store::AuditRecord& record);
std::string to_json(const store::HandledRecord& record);
std::string to_json(const Moment& moment);
std::string to_json(const store::AttemptRecord& record);
std::string to_json(const HandlerState& handler);

// What a reader who is not trusted with payloads sees of events: a summary without any payload, and the whole
// story with a redacted one.

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
