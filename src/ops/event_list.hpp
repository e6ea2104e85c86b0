// A page of events, newest first.
#pragma once

#include <optional>
#include <string>

#include "store/store.hpp"

namespace sluice::ops {

inline constexpr int kMaxPage = 1000;

/// Refuses a page size outside 1 to kMaxPage.
Result<void> check_page(int limit);

/// A cursor that is a position: none for the first page.
Result<std::optional<std::int64_t>> read_position(const std::optional<std::string>& cursor);

/// not_found when there is none.
Result<store::EventRecord> find_event(store::Administering& store, const Uuid& id);

struct ListRequest {
  store::EventFilter filter;
  int limit = 50;                     ///< 1 to kMaxPage
  std::optional<std::string> cursor;  ///< `next_cursor` of the page before
};

struct EventList {
  std::vector<store::EventRecord> events;
  std::optional<std::string> next_cursor;  ///< none: this was the last page
};

Result<EventList> list_events(store::Administering& store, const ListRequest& request);

}  // namespace sluice::ops
