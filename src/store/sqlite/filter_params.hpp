// Filters of the seam as parameters of the statements that honour them, each in one order.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/event_record.hpp"
#include "store/sqlite/connection.hpp"

namespace sluice::store::sqlite {

/// None for an empty text, where that means "any".
std::optional<std::string_view> given(const std::string& text);
/// `platform.*` → `platform.`; none when the pattern names one thing.
std::optional<std::string_view> prefix_of(const std::string& pattern);
/// None when the pattern is empty or a prefix.
std::optional<std::string_view> exactly(const std::string& pattern);

/// For list_events and list_failed_events, from `:status` to `:until`.
std::vector<Param> event_params(const EventFilter& filter);
/// For list_dead, count_dead, failure_groups, plan_dead and plan_discarded, from `:event_type` to `:fingerprint`:
/// what the kind of failure tells.
std::vector<Param> cluster_params(const EventFilter& filter);
/// For the same, from `:since` to `:except`: what the event tells.
std::vector<Param> dead_params(const EventFilter& filter, const std::optional<DeadCursor>& after = {});

/// `first`, then `second`, then `last`.
std::vector<Param> joined(std::vector<Param> first, std::vector<Param> second, std::initializer_list<Param> last = {});

}  // namespace sluice::store::sqlite
