// ASCII, whatever the locale says.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) { return is_lower(c) || is_upper(c); }
constexpr bool is_lower_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
/// A space, a tab, or the end of a line: what JSON and HTTP call white space.
constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
/// What one line of a log or a terminal must not hold.
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

constexpr char lower_case(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

/// -1: not a hexadecimal digit.
constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = lower_case(c);
  return is_lower_hex(lower) ? lower - 'a' + 10 : -1;
}
constexpr bool is_hex(char c) { return hex_value(c) >= 0; }

}  // namespace sluice
