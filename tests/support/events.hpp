// Events for tests: valid, each with an id of its own, everything else as short as possible.
#pragma once

#include <string>
#include <vector>

#include "store/publish.hpp"

namespace sluice::test {

/// A version 7 id that nobody else has. Thread-safe.
Uuid new_id();

/// The machine's clock, for values that a test compares with the store's.
Timestamp wall_clock();

/// A draft that EventEnvelope::make accepts.
EnvelopeDraft a_draft(const std::string& event_type = "test.happened");

/// An event of generation 1 on the default channel.
store::NewEvent an_event(const std::string& event_type = "test.happened");
store::NewEvent an_event(EnvelopeDraft draft);
store::NewEvent a_keyed_event(const std::string& ordering_key);
std::vector<store::NewEvent> events(int count);

}  // namespace sluice::test
