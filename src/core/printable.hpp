// Text of others, made harmless for whoever looks at it.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// Safe for a terminal, on one line: control characters and text-direction overrides are dropped,
/// white space becomes a space, bytes that are not UTF-8 become U+FFFD.
std::string printable(std::string_view text);

}  // namespace sluice
