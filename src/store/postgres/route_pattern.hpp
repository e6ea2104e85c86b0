// Interests as LIKE patterns over core.outbox_route: channel, target (* for a broadcast) and type.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/subscription.hpp"

namespace sluice::store {

/// Sorted, without doubles; empty when the interests are empty or one of them is everything.
std::vector<std::string> route_patterns(std::span<const Interest> interests);

/// Where events that these handlers can go on with wait: the lane of anybody, and one per scope. Empty
/// when there are no handlers: every lane.
std::vector<std::string> lanes(std::span<const std::string> handlers);

}  // namespace sluice::store
