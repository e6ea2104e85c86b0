// UTF-8 well-formedness, one character at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::utf8 {

/// U+FFFD, written in place of bytes that are not UTF-8.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// The bytes of the well-formed character at `at` (1 to 4), or 0: overlong forms, surrogates, values
/// beyond U+10FFFF and cut sequences are not well-formed.
std::size_t length_at(std::string_view text, std::size_t at);

bool is_valid(std::string_view text);

/// The longest prefix of at most `max_bytes` that does not cut a character.
std::string_view prefix(std::string_view text, std::size_t max_bytes);

void append_code_point(std::string& out, char32_t code_point);

}  // namespace sluice::utf8
