// Times as people give and read them on the command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ops/schema.hpp"

namespace sluice::cli {

/// `2h` (ago, by the store's clock) or an RFC 3339 time. `flag` is named in the error.
Result<Timestamp> parse_since(std::string_view text, std::string_view flag, store::Administering& store);

/// `2026-04-25 01:43:02.123Z`
std::string clock_text(Timestamp at);
/// `3m`, `2h`, `5d`: one unit, rounded down; `0s` for the future.
std::string age_text(Timestamp at, Timestamp now);

}  // namespace sluice::cli
