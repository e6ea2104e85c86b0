#include "core/utf8.hpp"

namespace sluice::utf8 {

namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

bool in_range(unsigned value, unsigned low, unsigned high) { return value >= low && value <= high; }

bool is_continuation(unsigned byte) { return in_range(byte, 0x80, 0xBF); }

// The range of the second byte is what excludes overlong forms, surrogates and values past U+10FFFF.
bool second_is_valid(unsigned lead, unsigned second) {
  switch (lead) {
    case 0xE0:
      return in_range(second, 0xA0, 0xBF);
    case 0xED:
      return in_range(second, 0x80, 0x9F);
    case 0xF0:
      return in_range(second, 0x90, 0xBF);
    case 0xF4:
      return in_range(second, 0x80, 0x8F);
    default:
      return is_continuation(second);
  }
}

}  // namespace

std::size_t length_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  const unsigned lead = byte_at(text, at);
  if (lead < 0x80) return 1;
  const std::size_t length = in_range(lead, 0xC2, 0xDF)   ? 2
                             : in_range(lead, 0xE0, 0xEF) ? 3
                             : in_range(lead, 0xF0, 0xF4) ? 4
                                                          : 0;
  if (length == 0 || !second_is_valid(lead, byte_at(text, at + 1))) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!is_continuation(byte_at(text, at + i))) return 0;
  }
  return length;
}

bool is_valid(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = length_at(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string_view prefix(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::size_t end = max_bytes;
  while (end > 0 && is_continuation(byte_at(text, end))) --end;
  return text.substr(0, end);
}

void append_code_point(std::string& out, char32_t code_point) {
  const auto put = [&out](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | (code_point >> 6));
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | (code_point >> 12));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | (code_point >> 18));
    put(0x80 | ((code_point >> 12) & 0x3F));
    put(0x80 | ((code_point >> 6) & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

}  // namespace sluice::utf8
