// A page of events, newest first.
#pragma once

#include <optional>
#include <string>

#include "store/store.hpp"

namespace sluice::ops {

inline constexpr int kMaxPage = 1000;

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
