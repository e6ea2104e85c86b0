// One event's story on a page, for people.
#pragma once

#include "cli/console.hpp"
#include "ops/event_story.hpp"

namespace sluice::cli {

void show_event(Console& console, const ops::EventStory& story);

}  // namespace sluice::cli
