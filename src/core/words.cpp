#include "core/words.hpp"

#include <algorithm>
#include <cstddef>

#include "core/characters.hpp"
#include "core/utf8.hpp"

namespace sluice {

std::string counted(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + ' ' + std::string{noun} + (count == 1 ? "" : "s");
}

std::string brief_duration(Duration duration) {
  constexpr std::int64_t kMillisecond = 1000;
  constexpr std::int64_t kSecond = 1000 * kMillisecond;
  const std::int64_t us = duration.count();
  // Units of a tenth, rounded: whole ones are written without it from ten on.
  const auto written = [&](std::int64_t unit, const char* name) {
    const std::int64_t tenths = (us * 10 + unit / 2) / unit;
    std::string text = std::to_string(tenths / 10);
    if (tenths < 100 && tenths % 10 != 0) text += '.' + std::to_string(tenths % 10);
    return text + name;
  };
  return us < kSecond ? written(kMillisecond, " ms") : written(kSecond, " s");
}

std::string lower_case(std::string_view text) {
  std::string lower{text};
  for (char& c : lower) c = lower_case(c);
  return lower;
}

bool is_same_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_case(x) == lower_case(y); });
}

bool is_digits(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

std::optional<std::string> percent_decoded(std::string_view text, BadEscape bad) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool escape = text[at] == '%' && text.size() - at >= 3 && is_hex(text[at + 1]) && is_hex(text[at + 2]);
    if (text[at] == '%' && !escape && bad == BadEscape::refused) return std::nullopt;
    decoded += escape ? static_cast<char>(hex_value(text[at + 1]) * 16 + hex_value(text[at + 2])) : text[at];
    if (escape) at += 2;
  }
  return decoded;
}

std::string in_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::optional<std::string> take_quoted(std::string_view& rest) {
  std::string text;
  for (std::size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] == '"') {
      rest.remove_prefix(at + 1);
      return text;
    }
    if (rest[at] == '\\' && at + 1 < rest.size()) ++at;
    text += rest[at];
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

namespace {

bool is_dropped(std::string_view character) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(character[at]); };
  if (character.size() == 1) return is_control(character[0]);
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
    } else if (!is_dropped(character)) {
      out += character;
    }
  }
  return out;
}

namespace {

// Optimal string alignment distance, three rows at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::optional<std::string_view> best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : candidates) {
    const std::size_t edits = distance(word, candidate);
    const std::size_t allowed = std::max<std::size_t>(1, std::max(word.size(), candidate.size()) / 3);
    if (edits > allowed || edits >= std::max(word.size(), candidate.size())) continue;
    if (!best || edits < best_distance) {
      best = candidate;
      best_distance = edits;
    }
  }
  return best;
}

}  // namespace sluice
