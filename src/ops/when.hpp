// A point in time as people write it.
#pragma once

#include <optional>
#include <string_view>

#include <sluice/time.hpp>

namespace sluice::ops {

/// `2h` (ago) or `2026-04-25T01:43:02Z`; none for anything else.
std::optional<Timestamp> parse_when(std::string_view text, Timestamp now);

}  // namespace sluice::ops
