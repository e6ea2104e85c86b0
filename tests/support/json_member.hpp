// One member of a JSON object, for assertions.
#pragma once

#include <string>
#include <string_view>

#include "core/json.hpp"

namespace sluice::test {

/// The value of a string, the raw text of anything else; empty when it is not there.
inline std::string member(const std::string& object, std::string_view name) {
  const auto members = json::members(object, "object");
  if (!members) return {};
  for (const auto& one : *members) {
    if (one.name != name) continue;
    const auto text = json::string_value(one.value, name);
    return text ? *text : std::string{one.value};
  }
  return {};
}

}  // namespace sluice::test
