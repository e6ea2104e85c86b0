// Searching: the indexes that serve it, made and dropped while publishers and workers go on, and filters that a team
// keeps under a name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/administer.hpp"

namespace sluice::ops {

/// payload, trace.
std::optional<store::SearchIndex> parse_index(std::string_view name);

struct IndexOrder {
  store::SearchIndex index = store::SearchIndex::payload;
  bool drop = false;
  store::Actor actor;
  int tries = 50;  ///< for each step that needs the table for a moment
};

/// What the steps say meanwhile. `wait` rests between two tries; false ends it there.
struct IndexVoice {
  std::function<void(const std::string& sentence)> say;
  std::function<bool(Duration)> wait;
};

struct IndexReport {
  store::SearchIndex index = store::SearchIndex::payload;
  bool drop = false;
  std::vector<std::string> sql;  ///< of a plan: what is left to run; of a run: what it ran
  bool interrupted = false;      ///< run it again to go on
};

/// Refuses, with one sentence, where the store has no such index. Changes nothing.
Result<IndexReport> plan_index(store::Administering& store, const IndexOrder& order);
/// The same refusal. Killed or interrupted at any place it is run again.
Result<IndexReport> change_index(store::Administering& store, const IndexOrder& order, const IndexVoice& voice);

std::string to_json(const IndexReport& report, bool dry_run);

// Saved filters.

inline constexpr std::size_t kMaxFilterName = 64;

/// Letters, digits, `-`, `_` and `.`, at most kMaxFilterName: it stands in a filter as `saved:NAME`.
Result<void> check_filter_name(std::string_view name);

Result<std::vector<store::SavedFilter>> list_filters(store::Administering& store);
/// not_found when there is none of that name.
Result<store::SavedFilter> find_filter(store::Administering& store, const std::string& name);
/// Checks name and filter alone, for a dry run.
Result<store::SavedFilter> check_filter(store::Administering& store, const std::string& name,
                                        const std::string& filter);
/// Keeps it in the one order of the grammar, replacing one of that name. Audited; a reason may be given.
Result<store::SavedFilter> save_filter(store::Administering& store, const std::string& name, const std::string& filter,
                                       const store::Actor& actor);
Result<void> remove_filter(store::Administering& store, const std::string& name, const store::Actor& actor);

std::string to_json(const store::SavedFilter& saved);
/// `{"filters":[…]}`
std::string to_json(const std::vector<store::SavedFilter>& saved);

}  // namespace sluice::ops
