// Whether a sink takes deliveries: what an operator, or a receiver that is gone, has said. The state of its circuit
// comes on top of it. Pure.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>

namespace sluice {

enum class SinkSwitch {
  active,
  paused,    ///< by an operator: events wait, no attempt is counted
  disabled,  ///< the receiver said that it is gone (410): the same, until an operator resumes it
};
/// The stable names, by SinkSwitch.
inline constexpr std::array<std::string_view, 3> kSinkSwitches{"active", "paused", "disabled"};
constexpr std::string_view name(SinkSwitch state) { return kSinkSwitches[static_cast<std::size_t>(state)]; }

/// None: there is no such state.
constexpr std::optional<SinkSwitch> parse_sink_switch(std::string_view text) {
  for (std::size_t at = 0; at < kSinkSwitches.size(); ++at) {
    if (kSinkSwitches[at] == text) return static_cast<SinkSwitch>(at);
  }
  return std::nullopt;
}

/// Whether a sink that is in state `from` goes to `to` when it is asked to. A receiver that is gone is not made less so
/// by a pause.
constexpr bool changes(SinkSwitch from, SinkSwitch to) {
  return from != to && !(from == SinkSwitch::disabled && to == SinkSwitch::paused);
}

/// How long events wait before they ask a paused or disabled sink again.
inline constexpr std::chrono::seconds kStoppedSinkWait{30};

}  // namespace sluice
