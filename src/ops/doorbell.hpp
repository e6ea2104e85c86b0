// When a publish rings: reading and changing the mode.
#pragma once

#include <optional>
#include <string_view>

#include "store/administer.hpp"

namespace sluice::ops {

/// `always` or `when-idle`.
std::optional<store::DoorbellMode> parse_doorbell(std::string_view text);

/// Refuses where the store has no doorbell to set; otherwise the mode.
Result<store::DoorbellMode> doorbell(store::Administering& store);
/// The same refusal; otherwise as Administering::set_doorbell.
Result<void> set_doorbell(store::Administering& store, store::DoorbellMode mode, const store::Actor& actor);

}  // namespace sluice::ops
