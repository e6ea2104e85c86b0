// Filters of the seam and lists of names as parameters of statements, each in one order.
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

/// For event_list and event_list_failed, whichever way round, from `:status` to `:payload`.
std::vector<Param> event_params(const EventFilter& filter);
/// For dead_list, dead_count, failure_groups, plan_dead and plan_discarded, from `:event_type` to `:fingerprint`:
/// what the group of failures tells.
std::vector<Param> group_params(const EventFilter& filter);
/// For the same, from `:since` to `:except`: what the event tells.
std::vector<Param> dead_params(const EventFilter& filter, const std::optional<DeadCursor>& after = {});
/// The same for dead_list_oldest, from `:after` to `:except`.
std::vector<Param> oldest_dead_params(const EventFilter& filter, const std::optional<DeadCursor>& after);

/// `first`, then `second`, then `last`.
std::vector<Param> joined(std::vector<Param> first, std::vector<Param> second, std::initializer_list<Param> last = {});

std::string json_list(const std::vector<std::string>& names);
/// None for an empty list, where that means "no filter".
std::optional<std::string> json_filter(const std::vector<std::string>& names);
/// The next column, written by json_list.
std::vector<std::string> read_list(Row& row);

}  // namespace sluice::store::sqlite
