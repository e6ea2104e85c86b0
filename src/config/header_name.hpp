// Header names of HTTP, as the file writes them.
#pragma once

#include <string_view>

namespace sluice::config {

/// A token of RFC 9110.
bool is_header_name(std::string_view text);
/// Visible ASCII, spaces and tabs inside: nothing that ends the line.
bool is_header_value(std::string_view text);

}  // namespace sluice::config
