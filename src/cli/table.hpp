// Plain columns for people. Cells are made printable; scripts take -o json.
#pragma once

#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/schema.hpp"

namespace sluice::cli {

struct Console;

class Table {
 public:
  explicit Table(std::initializer_list<std::string_view> headers);

  /// As many cells as there are headers.
  void row(std::vector<std::string> cells);
  /// A line of its own under the last row, indented and never cut.
  void note(const std::string& text);

  /// Columns are as wide as their widest cell; the last one is not padded. With `color` the headers
  /// are bold. With a `width` no line is longer, as far as eight characters are left of each column: the widest
  /// cells are cut, whole ids last, and end in `…`.
  void print(std::ostream& out, bool color, std::size_t width = 0) const;
  void print(const Console& console) const;

  [[nodiscard]] bool empty() const { return rows_.empty(); }

 private:
  struct Row {
    std::vector<std::string> cells;
    std::vector<std::string> notes;
  };
  std::vector<std::string> headers_;
  std::vector<Row> rows_;
};

/// Aligned `name  value` lines, indented by two; a pair without a value is left out.
void print_pairs(std::ostream& out, const std::vector<std::pair<std::string_view, std::string>>& pairs);

// Times as people give and read them on the command line.

/// `2h` (ago, by the store's clock) or an RFC 3339 time. `flag` is named in the error.
Result<Timestamp> parse_since(std::string_view text, std::string_view flag, store::Administering& store);

/// `2026-04-25 01:43:02.123Z`
std::string clock_text(Timestamp at);
/// `3m`, `2h`, `5d`: one unit, rounded down; `0s` for the future.
std::string age_text(Timestamp at, Timestamp now);

}  // namespace sluice::cli
