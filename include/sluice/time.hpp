// Points in time and their one text form.
//
// Sluice never asks the local clock what "now" is for a decision about an event: the store's clock
// decides. These are only the values that travel.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <sluice/result.hpp>

namespace sluice {

/// Microseconds since the Unix epoch, UTC: the resolution of PostgreSQL's timestamptz.
using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;
using Duration = std::chrono::microseconds;

/// `2026-04-25T01:43:02.000000Z`: always UTC, always six decimals, so that text order is time order.
std::string to_iso8601(Timestamp at);

/// Accepts RFC 3339: `T` or a space, optional fraction (digits past the sixth are dropped), `Z` or
/// an offset. Years 0001 to 9999. `field` names the input in the error.
Result<Timestamp> parse_iso8601(std::string_view text, std::string_view field = "timestamp");

/// `250ms`, `5s`, `10m`, `2h`, `1d` (and `us`), or a bare number of seconds: whole numbers, never
/// negative, at most a hundred years.
Result<Duration> parse_duration(std::string_view text, std::string_view field = "duration");

/// The shortest exact form that parse_duration reads back: `1500ms`, `5m`, `2h`.
std::string to_text(Duration duration);

}  // namespace sluice
