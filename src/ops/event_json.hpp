// The JSON of events, the same on every surface. Field names are stable; the payload is as the store has it.
#pragma once

#include <string>

#include "ops/event_list.hpp"
#include "ops/event_story.hpp"
#include "ops/publish_event.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

/// The envelope's members in their pinned order, then those of the row.
std::string to_json(const store::EventRecord& event);
/// The event's members plus `handled`, `audit` and `timeline`.
std::string to_json(const EventStory& story);
/// `{"events":[…],"next_cursor":…}`
std::string to_json(const EventList& list);
/// The envelope's members plus the routing and `outcome`: published, duplicate or, given none, `planned`.
std::string to_json(const store::NewEvent& event, std::optional<store::PublishOutcome> outcome);

std::string to_json(const store::AuditRecord& record);
std::string to_json(const store::HandledRecord& record);
std::string to_json(const Moment& moment);
std::string to_json(const HandlerState& handler);

}  // namespace sluice::ops
