#include "ops/event_list.hpp"

#include <charconv>
#include <utility>

namespace sluice::ops {
namespace {

Result<std::optional<std::int64_t>> position(const std::optional<std::string>& cursor) {
  if (!cursor) return std::optional<std::int64_t>{};
  std::int64_t seq = 0;
  const char* end = cursor->data() + cursor->size();
  const auto [stop, problem] = std::from_chars(cursor->data(), end, seq);
  if (problem != std::errc{} || stop != end || seq < 0) {
    return invalid("cursor", "cursor must be the next_cursor of an earlier page");
  }
  return std::optional{seq};
}

}  // namespace

Result<EventList> list_events(store::Administering& store, const ListRequest& request) {
  if (request.limit < 1 || request.limit > kMaxPage) {
    return invalid("limit", "limit must be from 1 to " + std::to_string(kMaxPage));
  }
  const auto& filter = request.filter;
  if (filter.since && filter.until && *filter.since >= *filter.until) {
    return invalid("since", "since must be before until");
  }
  const auto before = position(request.cursor);
  if (!before) return before.error();
  auto page = store.list_events(filter, request.limit, *before);
  if (!page) return std::move(page).error();
  EventList list{std::move(page->events), std::nullopt};
  if (page->next_before) list.next_cursor = std::to_string(*page->next_before);
  return list;
}

}  // namespace sluice::ops
