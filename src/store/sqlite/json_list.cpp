#include "store/sqlite/json_list.hpp"

#include "core/json.hpp"

namespace sluice::store::sqlite {

std::string json_list(const std::vector<std::string>& names) {
  std::string text = "[";
  for (const std::string& name : names) {
    if (text.size() > 1) text += ',';
    json::append_quoted(text, name);
  }
  return text + ']';
}

std::optional<std::string> json_filter(const std::vector<std::string>& names) {
  if (names.empty()) return std::nullopt;
  return json_list(names);
}

std::vector<std::string> read_list(Row& row) {
  std::vector<std::string> names;
  const std::string text = row.text();
  const auto elements = json::elements(text, "list");
  if (!elements) {
    row.damaged(elements.error().message);
    return names;
  }
  for (const std::string_view element : *elements) {
    auto name = json::string_value(element, "list");
    if (!name) row.damaged(name.error().message);
    names.push_back(name ? *std::move(name) : std::string{});
  }
  return names;
}

}  // namespace sluice::store::sqlite
