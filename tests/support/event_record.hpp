// A whole outbox row as a value, for what is computed from rows without a store.
#pragma once

#include <string>

#include "store/event_record.hpp"

namespace sluice::test {

/// The point in time at which tests with a clock of their own begin.
inline constexpr Timestamp kStart{std::chrono::seconds{1'780'000'000}};

/// The same id for the same number, from 0 to 255.
Uuid id_of(int number);

/// What a_record is made of: occurred at kStart, with a number in its payload that no double holds.
EnvelopeDraft a_draft_of(const Uuid& id, const std::string& event_type = "demo.hello");

/// A pending event as a store would return it.
store::EventRecord a_record(const Uuid& id, const std::string& event_type = "demo.hello");

}  // namespace sluice::test
