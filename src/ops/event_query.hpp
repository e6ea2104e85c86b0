// The filter as people write it, one grammar for the command line, HTTP, the console and MCP:
//
//   type:billing.* class:timeout since:2h text:"connection refused"
//
// Words are joined by "and"; a value with blanks stands in double quotes, `\"` and `\\` inside them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/administer.hpp"

namespace sluice::ops {

/// type, source, target, class, fp, gen, workspace, id, key, since, until, text, status.
std::vector<std::string_view> query_keys();

/// A filter in words, each key at most once. Nothing is looked up; values are not checked yet.
class EventQuery {
 public:
  /// The error names the word and, for a misspelt key, the nearest one.
  static Result<EventQuery> parse(std::string_view text);

  /// Adds or refuses (`field` names the flag) a key that is given twice.
  Result<void> add(std::string_view key, std::string value, std::string_view field);

  /// The values read. `now` is what `2h` counts back from.
  [[nodiscard]] Result<store::EventFilter> filter(Timestamp now) const;
  /// The same by the store's clock, with the whole of a fingerprint that was given by its beginning.
  [[nodiscard]] Result<store::EventFilter> filter(store::Administering& store) const;

  [[nodiscard]] bool empty() const { return words_.empty(); }
  /// The grammar again, in the order of the keys; empty when nothing is filtered.
  [[nodiscard]] std::string text() const;

 private:
  struct Word {
    std::string key;
    std::string value;
    std::string field;  // `filter`, or the flag that gave it
  };
  std::vector<Word> words_;  // by the order of query_keys()
};

}  // namespace sluice::ops
