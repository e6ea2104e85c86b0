#include "ops/search.hpp"

#include <algorithm>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/audit.hpp"
#include "ops/event_query.hpp"

namespace sluice::ops {
namespace {

constexpr Duration kFirstIndexRest = std::chrono::milliseconds{100};
constexpr Duration kLongestIndexRest = std::chrono::seconds{5};

Result<void> check_index(const store::Administering& store, store::SearchIndex index) {
  if (store.capabilities().search_indexes) return {};
  Error error = invalid("store", store.display_name() + " has no " + std::string{name(index)} +
                                     " index: an embedded store searches within a time range");
  error.hint = "add since: to the filter; the index is for PostgreSQL: give --store postgres://…";
  return error;
}

/// One step, again while somebody else has the table: true when it was taken, false when nothing is left. None: it was
/// interrupted.
Result<std::optional<bool>> take_step(store::Administering& store, const IndexOrder& order, bool first,
                                      const IndexVoice& voice) {
  Duration rest = kFirstIndexRest;
  for (int tried = 1;; ++tried) {
    const Result<bool> taken = store.take_index_step({order.index, order.drop, first && tried == 1}, order.actor);
    if (taken) return std::optional{*taken};
    if (taken.error().code != ErrorCode::timeout) return taken.error();
    if (tried >= order.tries) {
      Error error = taken.error();
      error.message += "; tried " + std::to_string(tried) + " times";
      error.code = ErrorCode::conflict;
      return error;
    }
    if (tried % 10 == 1) voice.say(taken.error().message + "; trying again");
    if (!voice.wait(rest)) return std::optional<bool>{};
    rest = std::min<Duration>(rest * 2, kLongestIndexRest);
  }
}

}  // namespace

std::optional<store::SearchIndex> parse_index(std::string_view name) {
  for (const auto index : {store::SearchIndex::payload, store::SearchIndex::trace}) {
    if (store::name(index) == name) return index;
  }
  return std::nullopt;
}

Result<IndexReport> plan_index(store::Administering& store, const IndexOrder& order) {
  SLUICE_CHECK(check_index(store, order.index));
  SLUICE_TRY(auto sql, store.index_sql({order.index, order.drop, false}));
  return IndexReport{order.index, order.drop, std::move(sql), false};
}

Result<IndexReport> change_index(store::Administering& store, const IndexOrder& order, const IndexVoice& voice) {
  SLUICE_CHECK(check_optional_reason(order.actor.reason));
  SLUICE_CHECK(check_index(store, order.index));
  IndexReport report{order.index, order.drop, {}, false};
  while (true) {
    SLUICE_TRY(const auto left, store.index_sql({order.index, order.drop, false}));
    if (left.empty()) return report;
    voice.say(left.front());
    SLUICE_TRY(const auto taken, take_step(store, order, report.sql.empty(), voice));
    if (taken && *taken) report.sql.push_back(left.front());
    report.interrupted = !taken || !voice.wait(Duration::zero());
    if (!report.interrupted) continue;
    // What was interrupted behind the last step is done.
    SLUICE_TRY(const auto rest, store.index_sql({order.index, order.drop, false}));
    report.interrupted = !rest.empty();
    return report;
  }
}

std::string to_json(const IndexReport& report, bool dry_run) {
  return JsonObject{}
      .boolean("dry_run", dry_run)
      .text("index", name(report.index))
      .boolean("drop", report.drop)
      .texts("sql", report.sql)
      .boolean("interrupted", report.interrupted)
      .str();
}

Result<void> check_filter_name(std::string_view name) {
  const bool known = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
  if (known && !name.empty() && name.size() <= kMaxFilterName) return {};
  return invalid("name", "name must be 1 to " + std::to_string(kMaxFilterName) +
                             " letters, digits, `-`, `_` or `.`, such as late-orders");
}

Result<std::vector<store::SavedFilter>> list_filters(store::Administering& store) { return store.saved_filters(); }

Result<store::SavedFilter> find_filter(store::Administering& store, const std::string& name) {
  SLUICE_TRY(auto all, store.saved_filters());
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  if (found != all.end()) return std::move(*found);
  return Error{ErrorCode::not_found, Retry::never, "no filter is saved as " + name, "name",
               "`sluice filter list` lists them"};
}

Result<store::SavedFilter> check_filter(store::Administering& store, const std::string& name,
                                        const std::string& filter) {
  SLUICE_CHECK(check_filter_name(name));
  SLUICE_TRY(const auto query, EventQuery::parse(filter));
  if (query.empty()) return invalid("filter", "filter is empty: say which events, as in type:billing.* since:2h");
  if (query.has("saved")) return invalid("filter", "a saved filter cannot name another one: write its words");
  SLUICE_TRY(const auto now, store.now());
  SLUICE_CHECK(query.filter(now));
  std::string text = query.text();
  if (text.size() > kMaxTextBytes) {
    return invalid("filter", "filter must be a text of at most " + std::to_string(kMaxTextBytes) + " bytes");
  }
  return store::SavedFilter{name, std::move(text), {}, {}};
}

Result<store::SavedFilter> save_filter(store::Administering& store, const std::string& name, const std::string& filter,
                                       const store::Actor& actor) {
  SLUICE_CHECK(check_optional_reason(actor.reason));
  SLUICE_TRY(const auto checked, check_filter(store, name, filter));
  return store.save_filter(checked.name, checked.filter, actor);
}

Result<void> remove_filter(store::Administering& store, const std::string& name, const store::Actor& actor) {
  SLUICE_CHECK(check_optional_reason(actor.reason));
  return store.remove_filter(name, actor);
}

std::string to_json(const store::SavedFilter& saved) {
  return JsonObject{}
      .text("name", saved.name)
      .text("filter", saved.filter)
      .text("saved_by", saved.saved_by)
      .time("saved_at", saved.saved_at)
      .str();
}

std::string to_json(const std::vector<store::SavedFilter>& saved) {
  std::vector<std::string> filters;
  for (const auto& one : saved) filters.push_back(to_json(one));
  return JsonObject{}.array("filters", filters).str();
}

}  // namespace sluice::ops
