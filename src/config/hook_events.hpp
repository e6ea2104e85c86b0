// Which events come from which hook. Pure.
#pragma once

#include <span>
#include <string>

#include "config/declared.hpp"

namespace sluice::config {

/// The hook's event type with this word for the event: `github.push`.
std::string event_type_of(const HookConfig& hook, std::string_view event);

/// Whether every pattern names events of these hooks only, so that the inbox retry policy is the natural one.
bool only_from_hooks(std::span<const std::string> event_types, std::span<const HookConfig> hooks);

}  // namespace sluice::config
