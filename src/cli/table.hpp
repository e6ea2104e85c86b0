// Plain columns for people. Cells are made printable; scripts take -o json.
#pragma once

#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

class Table {
 public:
  explicit Table(std::initializer_list<std::string_view> headers);

  /// As many cells as there are headers.
  void row(std::vector<std::string> cells);

  /// Columns are as wide as their widest cell; the last one is not padded. With `color` the headers
  /// are bold.
  void print(std::ostream& out, bool color) const;

  [[nodiscard]] bool empty() const { return rows_.empty(); }

 private:
  std::vector<std::string> headers_;
  std::vector<std::vector<std::string>> rows_;
};

/// Aligned `name  value` lines, indented by two; a pair without a value is left out.
void print_pairs(std::ostream& out, const std::vector<std::pair<std::string_view, std::string>>& pairs);

}  // namespace sluice::cli
