// Lists and counts as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// `a, b, c`
template <class Words>
std::string joined(const Words& words, std::string_view separator) {
  std::string text;
  for (const auto& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

/// `1 event`, `2 events`
std::string counted(std::int64_t count, std::string_view noun);

}  // namespace sluice
