#include "store/sqlite/query_params.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "core/json.hpp"
#include "store/sqlite/payload_terms.hpp"

namespace sluice::store::sqlite {
namespace {

// Before and behind every time that is stored.
constexpr std::string_view kFirstTime = "";
constexpr std::string_view kLastTime = "9999-12-31T23:59:59.999999Z";

Param except_param(const std::vector<Uuid>& ids) {
  Param param{":except", std::nullopt};
  if (ids.empty()) return param;
  std::string list;
  for (const Uuid& id : ids) list += (list.empty() ? "[\"" : ",\"") + id.to_string() + '"';
  param.value = list + ']';  // its own: other texts are borrowed
  return param;
}

Param payload_param(const std::vector<PayloadTerm>& terms) {
  Param param{":payload", std::nullopt};
  if (!terms.empty()) param.value = payload_terms_json(terms);
  return param;
}

std::vector<Param> dead_event_params(const EventFilter& filter) {
  return {{":id", filter.id},
          {":generation", filter.generation},
          {":workspace_id", filter.workspace_id},
          {":ordering_key", given(filter.ordering_key)},
          {":text", given(filter.text)},
          {":trace_id", given(filter.trace_id)},
          payload_param(filter.payload),
          except_param(filter.except)};
}

}  // namespace

std::optional<std::string_view> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>{text};
}

std::optional<std::string_view> prefix_of(const std::string& pattern) {
  if (!pattern.ends_with('*')) return std::nullopt;
  return std::string_view{pattern}.substr(0, pattern.size() - 1);
}

std::optional<std::string_view> exactly(const std::string& pattern) {
  return pattern.ends_with('*') ? std::nullopt : given(pattern);
}

std::vector<Param> event_params(const EventFilter& filter) {
  return {{":status", filter.status ? std::optional{name(*filter.status)} : std::nullopt},
          {":include_deleted", filter.include_deleted},
          {":id", filter.id},
          {":event_type", exactly(filter.event_type)},
          {":type_prefix", prefix_of(filter.event_type)},
          {":source", given(filter.source)},
          {":target", given(filter.target)},
          {":generation", filter.generation},
          {":workspace_id", filter.workspace_id},
          {":error_class", given(filter.error_class)},
          {":fingerprint", given(filter.fingerprint)},
          {":ordering_key", given(filter.ordering_key)},
          {":text", given(filter.text)},
          {":since", filter.since},
          {":until", filter.until},
          {":trace_id", given(filter.trace_id)},
          payload_param(filter.payload)};
}

std::vector<Param> group_params(const EventFilter& filter) {
  return {{":event_type", exactly(filter.event_type)}, {":type_prefix", prefix_of(filter.event_type)},
          {":source", given(filter.source)},           {":target", given(filter.target)},
          {":error_class", given(filter.error_class)}, {":fingerprint", given(filter.fingerprint)}};
}

std::vector<Param> dead_params(const EventFilter& filter, const std::optional<DeadCursor>& after) {
  // Both are upper bounds, and the index can be entered at one only. No event has the number 0.
  std::optional<DeadCursor> before = after;
  if (filter.until && (!after || *filter.until <= after->failed_at)) before = DeadCursor{*filter.until, 0};
  return joined({filter.since ? Param{":since", *filter.since} : Param{":since", kFirstTime},
                 before ? Param{":before", before->failed_at} : Param{":before", kLastTime},
                 {":before_seq", before ? before->seq : std::numeric_limits<std::int64_t>::max()}},
                dead_event_params(filter));
}

std::vector<Param> oldest_dead_params(const EventFilter& filter, const std::optional<DeadCursor>& after) {
  // Both are lower bounds; no event has the number 0.
  std::optional<DeadCursor> from = after;
  if (filter.since && (!after || *filter.since > after->failed_at)) from = DeadCursor{*filter.since, 0};
  return joined({from ? Param{":after", from->failed_at} : Param{":after", kFirstTime},
                 {":after_seq", from ? from->seq : 0},
                 filter.until ? Param{":until", *filter.until} : Param{":until", kLastTime}},
                dead_event_params(filter));
}

std::vector<Param> joined(std::vector<Param> first, std::vector<Param> second, std::initializer_list<Param> last) {
  first.reserve(first.size() + second.size() + last.size());
  std::move(second.begin(), second.end(), std::back_inserter(first));
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

std::string json_list(const std::vector<std::string>& names) {
  std::string text = "[";
  for (const std::string& name : names) {
    if (text.size() > 1) text += ',';
    json::append_quoted(text, name);
  }
  return text + ']';
}

std::optional<std::string> json_filter(const std::vector<std::string>& names) {
  if (names.empty()) return std::nullopt;
  return json_list(names);
}

std::vector<std::string> read_list(Row& row) {
  std::vector<std::string> names;
  const std::string text = row.text();
  const auto elements = json::elements(text, "list");
  if (!elements) {
    row.damaged(elements.error().message);
    return names;
  }
  for (const std::string_view element : *elements) {
    auto name = json::string_value(element, "list");
    if (!name) row.damaged(name.error().message);
    names.push_back(name ? *std::move(name) : std::string{});
  }
  return names;
}

}  // namespace sluice::store::sqlite
