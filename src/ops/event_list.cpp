#include "ops/event_list.hpp"

#include <charconv>
#include <utility>

namespace sluice::ops {

Result<std::optional<std::int64_t>> read_position(const std::optional<std::string>& cursor) {
  if (!cursor) return std::optional<std::int64_t>{};
  std::int64_t seq = 0;
  const char* end = cursor->data() + cursor->size();
  const auto [stop, problem] = std::from_chars(cursor->data(), end, seq);
  if (problem != std::errc{} || stop != end || seq < 0) {
    return invalid("cursor", "cursor must be the next_cursor of an earlier page");
  }
  return std::optional{seq};
}

Result<void> check_page(int limit) {
  if (limit >= 1 && limit <= kMaxPage) return {};
  return invalid("limit", "limit must be from 1 to " + std::to_string(kMaxPage));
}

Result<store::EventRecord> find_event(store::Administering& store, const Uuid& id) { return store.get_event(id); }

Result<EventList> list_events(store::Administering& store, const ListRequest& request) {
  if (auto limit = check_page(request.limit); !limit) return std::move(limit).error();
  const auto& filter = request.filter;
  if (filter.since && filter.until && *filter.since >= *filter.until) {
    return invalid("since", "since must be before until");
  }
  const auto before = read_position(request.cursor);
  if (!before) return before.error();
  auto page = store.list_events(filter, request.limit, *before);
  if (!page) return std::move(page).error();
  EventList list{std::move(page->events), std::nullopt};
  if (page->next_before) list.next_cursor = std::to_string(*page->next_before);
  return list;
}

}  // namespace sluice::ops
