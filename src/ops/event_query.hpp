// Which events are meant, and a page of them, newest or oldest first.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/time.hpp>
#include "store/administer.hpp"

namespace sluice::ops {

inline constexpr int kMaxPage = 1000;

/// Refuses a page size outside 1 to kMaxPage.
Result<void> check_page(int limit);

/// `newest` or `oldest`; the error names `field`.
Result<bool> oldest_first(std::string_view sort, std::string_view field);

// A cursor is a place in a list that is sorted one way; it is refused where the list is sorted the other way.

Result<std::string_view> cursor_place(std::string_view cursor, bool oldest_first);
std::string cursor_at(std::string place, bool oldest_first);

/// A cursor that is a position: none for the first page.
Result<std::optional<std::int64_t>> read_position(const std::optional<std::string>& cursor, bool oldest_first = false);

/// So many digits of an id at least name an event.
inline constexpr std::size_t kShortestId = 8;

/// The digits of a whole id or of its beginning; the error names `field`. Nothing is looked up.
Result<std::string> id_digits(std::string_view given, std::string_view field);

/// The id that is meant: a whole one, or the beginning of exactly one, from kShortestId digits on. The error names
/// `field`: not_found when no event begins so, invalid with the candidates when several do.
Result<Uuid> whole_id(store::Administering& store, std::string_view given, std::string_view field);

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

// A point in time as people write it.

/// `2h` (ago) or `2026-04-25T01:43:02Z`; none for anything else.
std::optional<Timestamp> parse_when(std::string_view text, Timestamp now);

// The filter as people write it, one grammar for the command line, HTTP, the console and MCP:
//
//   type:billing.* class:timeout since:2h text:"connection refused" data.order_id:4711
//
// Words are joined by "and"; a value with blanks stands in double quotes, `\"` and `\\` inside them. In quotes a value
// of the payload is a string, without them also a number, `true`, `false` or `null`. A field whose name has a dot, a
// colon or a blank in it stands in quotes too: data."order id"."a.b":4711

/// type, source, target, class, fp, gen, workspace, id, key, since, until, text, status, trace, saved, and `data.` with
/// what follows.
std::vector<std::string_view> query_keys();

/// A filter in words, each key at most once. Nothing is looked up; values are not checked yet.
class EventQuery {
 public:
  /// The error names the word and, for a misspelt key, the nearest one.
  static Result<EventQuery> parse(std::string_view text);

  /// Adds or refuses (`field` names the flag) a key that is given twice.
  Result<void> add(std::string_view key, std::string value, std::string_view field, bool quoted = false);

  /// The values read. `now` is what `2h` counts back from.
  [[nodiscard]] Result<store::EventFilter> filter(Timestamp now) const;
  /// The same by the store's clock, with the whole of a fingerprint and of an id that were given by their beginnings.
  /// Refuses a search by payload or trace that neither an index nor a time range bounds.
  [[nodiscard]] Result<store::EventFilter> filter(store::Administering& store) const;

  /// With the words of the saved filter that `saved:NAME` names in its place.
  [[nodiscard]] Result<EventQuery> expanded(store::Administering& store) const;

  [[nodiscard]] bool empty() const { return words_.empty(); }
  [[nodiscard]] bool has(std::string_view key) const;
  /// The grammar again, in the order of the keys; empty when nothing is filtered.
  [[nodiscard]] std::string text() const;

 private:
  struct Word {
    std::string key;
    std::string value;
    std::string field;  // `filter`, or the flag that gave it
    bool quoted = false;
  };
  std::vector<Word> words_;  // by the order of query_keys()
};

}  // namespace sluice::ops
