#include "ops/event_query.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <functional>
#include <utility>

#include "core/try.hpp"
#include "ops/dead_letters.hpp"

namespace sluice::ops {
namespace {

using store::EventFilter;

constexpr std::size_t kIdDigits = 32;

struct Reading {
  const std::string& key;
  const std::string& value;
  const std::string& field;
  Timestamp now;
  store::EventFilter& filter;
};

Error refused(const Reading& reading, const std::string& expected) {
  const std::string& name = reading.field == "filter" ? reading.key : reading.field;
  return invalid(reading.field, name + ": `" + reading.value + "` is not " + expected);
}

template <std::string store::EventFilter::*Member>
Result<void> take_text(const Reading& reading) {
  reading.filter.*Member = reading.value;
  return {};
}

template <std::optional<Uuid> store::EventFilter::*Member>
Result<void> take_uuid(const Reading& reading) {
  const auto id = Uuid::parse(reading.value, "filter");
  if (!id) return refused(reading, "a UUID");
  reading.filter.*Member = *id;
  return {};
}

template <std::optional<Timestamp> store::EventFilter::*Member>
Result<void> take_time(const Reading& reading) {
  reading.filter.*Member = parse_when(reading.value, reading.now);
  if (!(reading.filter.*Member)) return refused(reading, "a duration like 2h or a time like 2026-04-25T01:43:02Z");
  return {};
}

Result<void> take_generation(const Reading& reading) {
  const auto generation = parse_generation(reading.value, "filter");
  if (!generation) return refused(reading, "a generation: a whole number from 1");
  reading.filter.generation = *generation;
  return {};
}

Result<void> take_status(const Reading& reading) {
  reading.filter.status = parse_status(reading.value);
  if (!reading.filter.status) return refused(reading, "a status: pending, in_flight, delivered or failed");
  return {};
}

struct Key {
  std::string_view name;
  Result<void> (*take)(const Reading&);
};

constexpr std::array<Key, 13> kKeys{{
    {"type", take_text<&EventFilter::event_type>},
    {"source", take_text<&EventFilter::source>},
    {"target", take_text<&EventFilter::target>},
    {"class", take_text<&EventFilter::error_class>},
    {"fp", take_text<&EventFilter::fingerprint>},
    {"gen", take_generation},
    {"workspace", take_uuid<&EventFilter::workspace_id>},
    {"id", take_uuid<&EventFilter::id>},
    {"key", take_text<&EventFilter::ordering_key>},
    {"since", take_time<&EventFilter::since>},
    {"until", take_time<&EventFilter::until>},
    {"text", take_text<&EventFilter::text>},
    {"status", take_status},
}};

const Key* find_key(std::string_view name) {
  const auto* found = std::find_if(kKeys.begin(), kKeys.end(), [name](const Key& key) { return key.name == name; });
  return found == kKeys.end() ? nullptr : found;
}

std::string known_keys() {
  std::string names;
  for (const Key& key : kKeys) names += (names.empty() ? "" : ", ") + std::string{key.name};
  return names;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// One `key:value` after another.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  bool more() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    return at_ < text_.size();
  }

  Result<std::pair<std::string, std::string>> next() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ':' && !is_blank(text_[at_])) ++at_;
    std::string key{text_.substr(begin, at_ - begin)};
    if (at_ == text_.size() || text_[at_] != ':') {
      return invalid("filter", "`" + key + "` is no filter: write key:value with one of " + known_keys() +
                                   "; words of the error are text:\"…\"");
    }
    ++at_;
    SLUICE_TRY(auto value, at_ < text_.size() && text_[at_] == '"' ? quoted(key) : plain());
    if (value.empty()) return invalid("filter", key + ": the value is missing");
    return std::pair{std::move(key), std::move(value)};
  }

 private:
  Result<std::string> plain() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_blank(text_[at_])) ++at_;
    return std::string{text_.substr(begin, at_ - begin)};
  }

  Result<std::string> quoted(const std::string& key) {
    std::string value;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return value;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value += text_[at_];
    }
    return invalid("filter", key + ": the closing quote is missing");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string in_grammar(const std::string& value) {
  const bool plain = std::none_of(value.begin(), value.end(), is_blank) && !value.starts_with('"');
  if (plain) return value;
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

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
    return Error{ErrorCode::not_found, Retry::never, "no event id begins with " + std::string{given}, std::string{field},
                 {}};
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
  SLUICE_TRY(const auto before, read_position(request.cursor));
  SLUICE_TRY(auto page, store.list_events(filter, request.limit, before));
  EventList list{std::move(page.events), std::nullopt};
  if (page.next_before) list.next_cursor = std::to_string(*page.next_before);
  return list;
}

std::optional<Timestamp> parse_when(std::string_view text, Timestamp now) {
  if (const auto at = parse_iso8601(text, "time")) return *at;
  const auto ago = parse_duration(text, "time");
  return ago ? std::optional{now - *ago} : std::nullopt;
}

std::vector<std::string_view> query_keys() {
  std::vector<std::string_view> names;
  names.reserve(kKeys.size());
  for (const Key& key : kKeys) names.push_back(key.name);
  return names;
}

Result<EventQuery> EventQuery::parse(std::string_view text) {
  EventQuery query;
  Words words{text};
  while (words.more()) {
    SLUICE_TRY(auto word, words.next());
    SLUICE_CHECK(query.add(word.first, std::move(word.second), "filter"));
  }
  return query;
}

Result<void> EventQuery::add(std::string_view key, std::string value, std::string_view field) {
  const Key* known = find_key(key);
  if (known == nullptr) {
    return invalid(std::string{field}, "unknown filter key `" + std::string{key} + "`; the keys are " + known_keys());
  }
  const auto place =
      std::find_if(words_.begin(), words_.end(), [known](const Word& word) { return find_key(word.key) >= known; });
  if (place != words_.end() && place->key == key) {
    return invalid(std::string{field}, "the filter has " + std::string{key} + " twice");
  }
  words_.insert(place, {std::string{key}, std::move(value), std::string{field}});
  return {};
}

Result<store::EventFilter> EventQuery::filter(Timestamp now) const {
  store::EventFilter filter;
  for (const auto& [key, value, field] : words_) {
    SLUICE_CHECK(find_key(key)->take({key, value, field, now, filter}));
  }
  if (filter.since && filter.until && *filter.since >= *filter.until) {
    return invalid("filter", "since must be before until");
  }
  return filter;
}

Result<store::EventFilter> EventQuery::filter(store::Administering& store) const {
  SLUICE_TRY(const auto now, store.now());
  EventQuery whole = *this;
  for (Word& word : whole.words_) {
    if (word.key != "id") continue;
    SLUICE_TRY(const auto id, whole_id(store, word.value, word.field));
    word.value = id.to_string();
  }
  auto read = whole.filter(now);
  if (!read || read->fingerprint.empty()) return read;
  const auto word = std::find_if(words_.begin(), words_.end(), [](const Word& one) { return one.key == "fp"; });
  SLUICE_TRY(read->fingerprint, whole_fingerprint(store, read->fingerprint, word->field));
  return read;
}

std::string EventQuery::text() const {
  std::string text;
  for (const auto& [key, value, field] : words_) text += (text.empty() ? "" : " ") + key + ':' + in_grammar(value);
  return text;
}

}  // namespace sluice::ops
