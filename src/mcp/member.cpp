#include "mcp/member.hpp"

#include "core/json.hpp"

namespace sluice::mcp {

std::optional<std::string_view> member(std::string_view object, std::string_view name) {
  const auto members = json::members(object, name);
  if (!members) return std::nullopt;
  for (const auto& one : *members) {
    if (one.name == name) return one.value;
  }
  return std::nullopt;
}

std::optional<std::string> text_member(std::string_view object, std::string_view name) {
  const auto raw = member(object, name);
  auto text = json::string_value(raw.value_or(""), name);
  return text ? std::optional{*std::move(text)} : std::nullopt;
}

}  // namespace sluice::mcp
