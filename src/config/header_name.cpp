#include "config/header_name.hpp"

#include <algorithm>

#include "core/characters.hpp"

namespace sluice::config {
namespace {

bool is_token_character(char c) {
  return is_letter(c) || is_digit(c) || std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}

}  // namespace

bool is_header_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}

bool is_header_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= ' ' && c < '\x7F') || c == '\t'; });
}

}  // namespace sluice::config
