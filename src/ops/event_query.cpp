#include "ops/event_query.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <utility>

#include "core/characters.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/dead_letters.hpp"
#include "ops/search.hpp"

namespace sluice::ops {
namespace {

using store::EventFilter;

constexpr std::string_view kData = "data.";
constexpr std::string_view kSaved = "saved";
constexpr std::size_t kTraceDigits = 32;

struct Reading {
  const std::string& key;
  const std::string& value;
  bool quoted;
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

Result<void> take_trace(const Reading& reading) {
  std::string& id = reading.filter.trace_id;
  for (const char c : reading.value) id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool hex = id.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!hex || id.size() != kTraceDigits) return refused(reading, "a trace id: 32 hexadecimal digits");
  return {};
}

// EventQuery::expanded has put its words in its place.
Result<void> take_saved(const Reading& reading) { return check_filter_name(reading.value); }

// The key is one that `canonical` has written.
Result<void> take_data(const Reading& reading) {
  reading.filter.payload.push_back({path_of(reading.key).value(), reading.value, reading.quoted});
  return {};
}

struct Key {
  std::string_view name;
  Result<void> (*take)(const Reading&);
};

constexpr std::array<Key, 16> kKeys{{
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
    {"trace", take_trace},
    {kSaved, take_saved},
    {kData, take_data},  // and the way to a field
}};

const Key* find_key(std::string_view name) {
  const auto* found = std::find_if(kKeys.begin(), kKeys.end(), [name](const Key& key) {
    return key.name == name || (key.name == kData && name.starts_with(kData));
  });
  return found == kKeys.end() ? nullptr : found;
}

std::string known_keys() {
  std::string names;
  for (const Key& key : kKeys) names += (names.empty() ? "" : ", ") + std::string{key.name};
  return names + "FIELD";
}

// `data."order"` is `data.order`.
Result<std::string> canonical(std::string_view key, std::string_view field) {
  if (!key.starts_with(kData)) return std::string{key};
  auto path = path_of(key);
  if (path) return name_of(PayloadTerm{std::move(*path), {}});
  return invalid(std::string{field}, std::string{key} + ": name a field of the payload, as in data.order_id:4711 or " +
                                         "data.\"order id\":4711");
}

// One `key:value` after another.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  bool more() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
    return !rest_.empty();
  }

  struct Word {
    std::string key;
    std::string value;
    bool quoted = false;
  };

  Result<Word> next() {
    SLUICE_TRY(auto key, next_key());
    if (!rest_.starts_with(':')) {
      return invalid("filter", "`" + key + "` is no filter: write key:value with one of " + known_keys() +
                                   "; words of the error are text:\"…\"");
    }
    rest_.remove_prefix(1);
    const bool quoted = rest_.starts_with('"');
    auto value = quoted ? take_quoted(rest_) : plain();
    if (!value) return invalid("filter", key + ": the closing quote is missing");
    if (value->empty() && !(quoted && key.starts_with(kData))) {
      return invalid("filter", key + ": the value is missing");
    }
    return Word{std::move(key), std::move(*value), quoted};
  }

 private:
  // Colons and blanks belong to the name of a member that stands in quotes.
  Result<std::string> next_key() {
    const std::string_view text = rest_;
    while (!rest_.empty() && rest_.front() != ':' && !is_space(rest_.front())) {
      const std::string_view key = text.substr(0, text.size() - rest_.size());
      if (key.starts_with(kData) && key.ends_with('.') && rest_.front() == '"') {
        if (!take_quoted(rest_)) return invalid("filter", std::string{text} + ": the closing quote is missing");
      } else {
        rest_.remove_prefix(1);
      }
    }
    return std::string{text.substr(0, text.size() - rest_.size())};
  }

  std::optional<std::string> plain() {
    const auto end = std::find_if(rest_.begin(), rest_.end(), is_space);
    std::string value{rest_.begin(), end};
    rest_.remove_prefix(value.size());
    return value;
  }

  std::string_view rest_;
};

std::string in_grammar(const std::string& value, bool quoted) {
  const bool plain = std::none_of(value.begin(), value.end(), is_space) && !value.starts_with('"');
  return plain && !quoted ? value : in_quotes(value);
}

Error unbounded(const store::Administering& store, const std::string& key, store::SearchIndex index) {
  Error error = invalid("filter", key + ": there is no index for this search, so it needs a time range: add since:24h");
  if (store.capabilities().search_indexes) {
    error.hint = "or make the index: sluice db index " + std::string{name(index)};
  }
  return error;
}

// A search that no index serves reads each event of its range: there must be one.
Result<void> check_bounds(store::Administering& store, const EventFilter& filter) {
  if (filter.since || filter.id || !filter.ordering_key.empty()) return {};
  if (!filter.payload.empty()) {
    SLUICE_TRY(const bool indexed, store.has_index(store::SearchIndex::payload));
    if (!indexed) return unbounded(store, name_of(filter.payload.front()), store::SearchIndex::payload);
  }
  if (!filter.trace_id.empty()) {
    SLUICE_TRY(const bool indexed, store.has_index(store::SearchIndex::trace));
    if (!indexed) return unbounded(store, "trace", store::SearchIndex::trace);
  }
  return {};
}

}  // namespace

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
    SLUICE_CHECK(query.add(word.key, std::move(word.value), "filter", word.quoted));
  }
  return query;
}

Result<void> EventQuery::add(std::string_view given, std::string value, std::string_view field, bool quoted) {
  const Key* known = find_key(given);
  if (known == nullptr) {
    return invalid(std::string{field}, "unknown filter key `" + std::string{given} + "`; the keys are " + known_keys());
  }
  SLUICE_TRY(auto key, canonical(given, field));
  const auto place = std::find_if(words_.begin(), words_.end(), [&](const Word& word) {
    return std::pair{find_key(word.key), std::string_view{word.key}} >= std::pair{known, std::string_view{key}};
  });
  if (place != words_.end() && place->key == key) {
    return invalid(std::string{field}, "the filter has " + key + " twice");
  }
  words_.insert(place, {std::move(key), std::move(value), std::string{field}, quoted});
  return {};
}

Result<store::EventFilter> EventQuery::filter(Timestamp now) const {
  store::EventFilter filter;
  for (const auto& [key, value, field, quoted] : words_) {
    SLUICE_CHECK(find_key(key)->take({key, value, quoted, field, now, filter}));
  }
  if (filter.since && filter.until && *filter.since >= *filter.until) {
    return invalid("filter", "since must be before until");
  }
  return filter;
}

bool EventQuery::has(std::string_view key) const {
  return std::any_of(words_.begin(), words_.end(), [key](const Word& word) { return word.key == key; });
}

Result<EventQuery> EventQuery::expanded(store::Administering& store) const {
  const auto word = std::find_if(words_.begin(), words_.end(), [](const Word& one) { return one.key == kSaved; });
  if (word == words_.end()) return *this;
  auto saved = find_filter(store, word->value);
  if (!saved) {
    Error error = std::move(saved).error();
    error.field = word->field;
    return error;
  }
  SLUICE_TRY(EventQuery query, parse(saved->filter));
  for (const Word& own : words_) {
    if (own.key != kSaved) SLUICE_CHECK(query.add(own.key, own.value, own.field, own.quoted));
  }
  return query;
}

Result<store::EventFilter> EventQuery::filter(store::Administering& store) const {
  SLUICE_TRY(const auto now, store.now());
  SLUICE_TRY(EventQuery whole, expanded(store));
  for (Word& word : whole.words_) {
    if (word.key != "id") continue;
    SLUICE_TRY(const auto id, whole_id(store, word.value, word.field));
    word.value = id.to_string();
  }
  auto read = whole.filter(now);
  if (!read) return read;
  SLUICE_CHECK(check_bounds(store, *read));
  if (read->fingerprint.empty()) return read;
  const auto word =
      std::find_if(whole.words_.begin(), whole.words_.end(), [](const Word& one) { return one.key == "fp"; });
  SLUICE_TRY(read->fingerprint, whole_fingerprint(store, read->fingerprint, word->field));
  return read;
}

std::string EventQuery::text() const {
  std::string text;
  for (const auto& [key, value, field, quoted] : words_) {
    text += (text.empty() ? "" : " ") + key + ':' + in_grammar(value, quoted && key.starts_with(kData));
  }
  return text;
}

}  // namespace sluice::ops
