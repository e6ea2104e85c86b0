// One event's story on a page, for people.
#pragma once

#include "cli/console.hpp"
#include "cli/session.hpp"
#include "ops/event_story.hpp"

namespace sluice::cli {

void show_event(Console& console, const ops::EventStory& story);

/// The command: the story of the event that the first argument names.
Result<Exit> show_event_command(Session& session);

}  // namespace sluice::cli
