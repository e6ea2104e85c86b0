#include "core/printable.hpp"

#include <cstddef>

#include "core/utf8.hpp"

namespace sluice {
namespace {

bool is_control(std::string_view character) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(character[at]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
  if (character.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  // U+200E, U+200F, U+2028 to U+202E and U+2066 to U+2069 reorder or break what follows.
  if (character.size() == 3 && byte(0) == 0xE2) {
    if (byte(1) == 0x80) return byte(2) == 0x8E || byte(2) == 0x8F || (byte(2) >= 0xA8 && byte(2) <= 0xAE);
    if (byte(1) == 0x81) return byte(2) >= 0xA6 && byte(2) <= 0xA9;
  }
  return false;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8::length_at(text, at);
    if (length == 0) {
      out += utf8::kReplacement;
      ++at;
      continue;
    }
    const std::string_view character = text.substr(at, length);
    at += length;
    if (character == "\n" || character == "\t" || character == "\r") {
      out += ' ';
    } else if (!is_control(character)) {
      out += character;
    }
  }
  return out;
}

}  // namespace sluice
