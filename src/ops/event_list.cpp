// Pages of events, and events by their ids.
#include <cctype>
#include <charconv>
#include <utility>

#include "core/try.hpp"
#include "ops/event_query.hpp"

namespace sluice::ops {
namespace {

constexpr std::size_t kIdDigits = 32;
constexpr std::string_view kNewest = "newest";
constexpr std::string_view kOldest = "oldest";
constexpr char kOfOldest = 'o';  // a cursor of a list that began with the oldest

}  // namespace

Result<bool> oldest_first(std::string_view sort, std::string_view field) {
  if (sort == kNewest) return false;
  if (sort == kOldest) return true;
  return invalid(std::string{field}, std::string{field} + " must be `newest` or `oldest`");
}

Result<std::string_view> cursor_place(std::string_view cursor, bool oldest_first) {
  const bool of_oldest = cursor.starts_with(kOfOldest);
  if (of_oldest != oldest_first) {
    return invalid("cursor", std::string{"cursor is of a list sorted by "} +
                                 std::string{of_oldest ? kOldest : kNewest} +
                                 ": ask for the same sort, or begin again without a cursor");
  }
  return cursor.substr(of_oldest ? 1 : 0);
}

std::string cursor_at(std::string place, bool oldest_first) {
  return oldest_first ? kOfOldest + std::move(place) : std::move(place);
}

Result<std::optional<std::int64_t>> read_position(const std::optional<std::string>& cursor, bool oldest_first) {
  if (!cursor) return std::optional<std::int64_t>{};
  SLUICE_TRY(const auto place, cursor_place(*cursor, oldest_first));
  std::int64_t seq = 0;
  const char* end = place.data() + place.size();
  const auto [stop, problem] = std::from_chars(place.data(), end, seq);
  if (problem != std::errc{} || stop != end || seq < 0) {
    return invalid("cursor", "cursor must be the next_cursor of an earlier page");
  }
  return std::optional{seq};
}

Result<void> check_page(int limit) {
  if (limit >= 1 && limit <= kMaxPage) return {};
  return invalid("limit", "limit must be from 1 to " + std::to_string(kMaxPage));
}

Result<std::string> id_digits(std::string_view given, std::string_view field) {
  std::string digits;
  for (const char c : given) {
    if (c != '-') digits += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const bool hex = digits.find_first_not_of("0123456789abcdef") == std::string::npos;
  const bool whole = Uuid::parse(given, field).has_value();
  if (!whole && (!hex || digits.size() < kShortestId || digits.size() >= kIdDigits)) {
    return invalid(std::string{field}, std::string{field} + ": `" + std::string{given.substr(0, 64)} +
                                           "` is not an event id: give a UUID, or its first " +
                                           std::to_string(kShortestId) + " digits or more");
  }
  return digits;
}

Result<Uuid> whole_id(store::Administering& store, std::string_view given, std::string_view field) {
  constexpr int kNamed = 5;
  SLUICE_TRY(const auto digits, id_digits(given, field));
  if (digits.size() == kIdDigits) return Uuid::parse(given, field);
  SLUICE_TRY(const auto found, store.ids_from(digits, kNamed));
  if (found.empty()) {
    return Error{
        ErrorCode::not_found, Retry::never, "no event id begins with " + std::string{given}, std::string{field}, {}};
  }
  if (found.size() == 1) return found.front();
  std::string names;
  for (const Uuid& id : found) names += (names.empty() ? "" : ", ") + id.to_string();
  return invalid(std::string{field}, std::string{field} + ": `" + std::string{given} + "` begins several event ids: " +
                                         names + (found.size() == kNamed ? ", …" : "") + "; give more digits");
}

Result<store::EventRecord> find_event(store::Administering& store, const Uuid& id) { return store.get_event(id); }

Result<EventList> list_events(store::Administering& store, const ListRequest& request) {
  SLUICE_CHECK(check_page(request.limit));
  const auto& filter = request.filter;
  if (filter.since && filter.until && *filter.since >= *filter.until) {
    return invalid("since", "since must be before until");
  }
  SLUICE_TRY(const auto after, read_position(request.cursor, filter.oldest_first));
  SLUICE_TRY(auto page, store.list_events(filter, request.limit, after));
  EventList list{std::move(page.events), std::nullopt};
  if (page.next) list.next_cursor = cursor_at(std::to_string(*page.next), filter.oldest_first);
  return list;
}

}  // namespace sluice::ops
