// Single members of JSON objects, for the few that the protocol looks at.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::mcp {

/// The member's JSON text; none when it is missing or `object` is no object.
std::optional<std::string_view> member(std::string_view object, std::string_view name);
/// Its text; none when it is missing or no string.
std::optional<std::string> text_member(std::string_view object, std::string_view name);

}  // namespace sluice::mcp
