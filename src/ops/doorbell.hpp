// When a publish rings: reading and changing the mode.
#pragma once

#include <optional>
#include <string_view>

#include "store/store.hpp"

namespace sluice::ops {

/// `always` or `when-idle`.
std::optional<store::DoorbellMode> parse_doorbell(std::string_view text);

/// Refuses where the store has no doorbell to set; otherwise the mode.
Result<store::DoorbellMode> doorbell(store::Store& store);
/// The same refusal; otherwise as Listening::set_doorbell.
Result<void> set_doorbell(store::Store& store, store::DoorbellMode mode, const store::Actor& actor);

}  // namespace sluice::ops
