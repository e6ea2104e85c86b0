// The pass over a JSON text behind json.hpp. Of json.cpp only.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "core/characters.hpp"
#include "core/json.hpp"
#include "core/utf8.hpp"

namespace sluice::json {

inline bool is_below_space(char c) { return static_cast<unsigned char>(c) < 0x20; }
inline bool is_plain(char c) { return c >= 0x20 && static_cast<unsigned char>(c) < 0x80 && c != '"' && c != '\\'; }
inline bool is_high_surrogate(char32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
inline bool is_low_surrogate(char32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

// How many bytes jsonb writes for one character of a string: escaped where it has to be, whatever the sender did.
inline std::size_t written_bytes(char32_t code_point) {
  if (code_point == '"' || code_point == '\\') return 2;
  if (code_point < 0x20) return code_point >= '\b' && code_point <= '\r' && code_point != '\v' ? 2 : 6;
  if (code_point < 0x80) return 1;
  if (code_point < 0x800) return 2;
  return code_point < 0x10000 ? 3 : 4;
}

// A number as it stands in the text, and what numeric makes of it.
struct NumberText {
  bool negative = false;
  std::string_view integer;
  std::string_view fraction;
  std::int64_t exponent = 0;  // cut at kExponentEnd: far beyond what numeric holds

  static constexpr std::int64_t kExponentEnd = 1'000'000'000;

  // The power of ten of the first digit that is not zero; none: the number is zero.
  [[nodiscard]] std::optional<std::int64_t> magnitude() const {
    const auto whole = static_cast<std::int64_t>(integer.size());
    if (const auto at = integer.find_first_not_of('0'); at != std::string_view::npos) {
      return whole - 1 - static_cast<std::int64_t>(at) + exponent;
    }
    const auto at = fraction.find_first_not_of('0');
    if (at == std::string_view::npos) return std::nullopt;
    return -1 - static_cast<std::int64_t>(at) + exponent;
  }
  [[nodiscard]] std::int64_t fraction_digits() const {
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(fraction.size()) - exponent);
  }
  [[nodiscard]] bool fits() const {
    return std::abs(exponent) < kExponentEnd && magnitude().value_or(0) < kMostIntegerDigits &&
           fraction_digits() <= kMostFractionDigits;
  }
  // 1e5 is written as 100000, 1e-3 as 0.001, -0 as 0.
  [[nodiscard]] std::size_t written_bytes() const {
    const auto first = magnitude();
    const std::int64_t whole = std::max<std::int64_t>(0, first.value_or(0)) + 1;
    const std::int64_t rest = fraction_digits() > 0 ? 1 + fraction_digits() : 0;
    return static_cast<std::size_t>(whole + rest) + (negative && first ? 1 : 0);
  }
};

inline thread_local std::size_t bytes_read_here = 0;

// Walks one document. Each step returns false after noting the first thing that is wrong.
class Scanner {
 public:
  Scanner(std::string_view text, const Limits& limits)
      : text_(text),
        depth_limit_(std::min(limits.depth, kMaxDepth)),
        storable_(limits.stored_bytes > 0 || limits.measured),
        measured_(limits.measured),
        any_text_(limits.any_text) {}
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;
  ~Scanner() { bytes_read_here += at_; }

  // `whole`: where the document's parts go, for the callers that want them; those that `split` names are taken apart
  // too.
  bool document(Part* whole = nullptr, Split split = nullptr) {
    split_ = split;
    skip_space();
    if (!(whole != nullptr ? part(*whole, whole, 0) : value(nullptr, 0))) return false;
    skip_space();
    return at_end() || fail("nothing more may follow the value");
  }

  bool only_string(std::string& unescaped) {
    return string(&unescaped) && (at_end() || fail("nothing more may follow the string"));
  }

  [[nodiscard]] Kind kind() const { return kind_; }
  // As jsonb writes the document, without the spaces between its parts.
  [[nodiscard]] std::size_t written_bytes() const { return written_; }

  [[nodiscard]] Error error(std::string_view field) const {
    std::size_t line = 1;
    std::size_t column = 1;
    for (const char c : text_.substr(0, failed_at_)) {
      if (c == '\n') {
        ++line;
        column = 1;
      } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
        ++column;
      }
    }
    const std::string name{field};
    if (twice_) return invalid(name, name + " has the member " + quote(*twice_) + " twice");
    return invalid(name, name + (valid_ ? " cannot be stored" : " is not valid JSON") + " at line " +
                             std::to_string(line) + ", column " + std::to_string(column) + ": " +
                             std::string{problem_});
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool take(char expected) {
    if (at_end() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (!at_end() && is_space(text_[at_])) ++at_;
  }
  bool fail(std::string_view problem) { return fail_at(at_, problem); }
  bool fail_at(std::size_t at, std::string_view problem) {
    failed_at_ = at;
    problem_ = problem;
    return false;
  }

  // `into`: where its parts go.
  bool value(Part* into, int level) {
    switch (peek()) {
      case '{':
        return nested(Kind::object, into, level);
      case '[':
        return nested(Kind::array, into, level);
      case '"':
        return string(nullptr) && is(Kind::string);
      case 't':
        return word("true") && is(Kind::boolean);
      case 'f':
        return word("false") && is(Kind::boolean);
      case 'n':
        return word("null") && is(Kind::null);
      default:
        return number() && is(Kind::number);
    }
  }

  bool is(Kind kind) {
    kind_ = kind;
    return true;
  }

  // One whose extent is kept: what was seen within it is told apart from what was seen before.
  bool part(Part& one, Part* into, int level) {
    const std::size_t begin = at_;
    const std::size_t written_before = std::exchange(written_, 0);
    const int deepest_before = std::exchange(deepest_, depth_);
    const bool fits_before = std::exchange(fits_, true);
    if (!value(into, level)) return false;
    one.value = text_.substr(begin, at_ - begin);
    one.measure = {kind_, deepest_ - depth_, written_, measured_ && fits_};
    written_ += written_before;
    deepest_ = std::max(deepest_, deepest_before);
    fits_ = fits_ && fits_before;
    return true;
  }

  bool inner(Part& one, Part* into, int level) {
    if (into == nullptr) return value(nullptr, level);
    return part(one, split_ != nullptr && split_(level, one) ? &one : nullptr, level);
  }

  bool nested(Kind kind, Part* into, int level) {
    if (depth_ >= depth_limit_) return fail("it is nested too deeply");
    ++at_;
    ++depth_;
    deepest_ = std::max(deepest_, depth_);
    if (!(kind == Kind::object ? object(into, level + 1) : array(into, level + 1))) return false;
    --depth_;
    written_ += 2;
    return is(kind);
  }

  bool object(Part* into, int level) {
    skip_space();
    if (take('}')) return true;
    std::vector<std::string> names;
    do {
      skip_space();
      Part one;
      if (peek() != '"') return fail("a member name in double quotes was expected");
      if (!string(into != nullptr || storable_ ? &one.name : nullptr)) return false;
      written_ += names.empty() ? 1U : 2U;  // the colon, and a comma before all but the first
      if (storable_) names.push_back(one.name);
      skip_space();
      if (!take(':')) return fail("':' was expected after the member name");
      skip_space();
      if (!inner(one, into, level)) return false;
      if (into != nullptr) into->parts.push_back(std::move(one));
      skip_space();
    } while (take(','));
    if (!take('}')) return fail("',' or '}' was expected");
    std::sort(names.begin(), names.end());
    const auto same = std::adjacent_find(names.begin(), names.end());
    if (same == names.end()) return true;
    fits_ = false;
    if (measured_) return true;
    twice_ = *same;
    return false;
  }

  bool array(Part* into, int level) {
    skip_space();
    if (take(']')) return true;
    bool first = true;
    do {
      if (!std::exchange(first, false)) ++written_;
      skip_space();
      Part one;
      if (!inner(one, into, level)) return false;
      if (into != nullptr) into->parts.push_back(std::move(one));
      skip_space();
    } while (take(','));
    return take(']') || fail("',' or ']' was expected");
  }

  bool string(std::string* unescaped) {
    if (!take('"')) return fail("a string was expected");
    written_ += 2;
    while (!at_end() && peek() != '"') {
      plain(unescaped);
      if (!at_end() && peek() != '"' && !character(unescaped)) return false;
    }
    return take('"') || fail("the string is not closed");
  }

  // The run of characters that stand for themselves, which is most of a text.
  void plain(std::string* out) {
    const std::size_t begin = at_;
    while (!at_end() && is_plain(text_[at_])) ++at_;
    if (out != nullptr) out->append(text_, begin, at_ - begin);
    written_ += at_ - begin;
  }

  bool word(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) return fail("a value was expected");
    at_ += expected.size();
    written_ += expected.size();
    return true;
  }

  bool digits(std::string_view* found = nullptr) {
    const std::size_t begin = at_;
    if (!is_digit(peek())) return fail("a digit was expected");
    while (is_digit(peek())) ++at_;
    if (found != nullptr) *found = text_.substr(begin, at_ - begin);
    return true;
  }

  bool number() {
    const std::size_t begin = at_;
    NumberText number;
    number.negative = take('-');
    if (!number.negative && !is_digit(peek())) return fail("a value was expected");
    if (take('0')) {
      if (is_digit(peek())) return fail("a number must not start with 0");
      number.integer = "0";
    } else if (!digits(&number.integer)) {
      return false;
    }
    if (take('.') && !digits(&number.fraction)) return false;
    if (take('e') || take('E')) {
      const bool negative = !take('+') && take('-');
      std::string_view exponent;
      if (!digits(&exponent)) return false;
      for (const char c : exponent) {
        number.exponent = std::min(NumberText::kExponentEnd, number.exponent * 10 + (c - '0'));
      }
      if (negative) number.exponent = -number.exponent;
    }
    if (!storable_) return true;
    if (!number.fits() && measured_) {
      fits_ = false;
      return true;
    }
    if (!number.fits()) {
      valid_ = true;
      return fail_at(begin, "a number may have 131072 digits before its decimal point and 16383 after it");
    }
    written_ += number.written_bytes();
    return true;
  }

  bool character(std::string* out) {
    if (is_below_space(peek())) return fail("a control character in a string must be escaped");
    if (peek() == '\\') return escape(out);
    const std::size_t length = utf8::length_at(text_, at_);
    if (length == 0) return fail("the text is not valid UTF-8");
    if (out != nullptr) out->append(text_, at_, length);
    at_ += length;
    written_ += length;
    return true;
  }

  bool escape(std::string* out) {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    const std::size_t begin = at_++;
    if (take('u')) return unicode_escape(begin, out);
    const std::size_t which = at_end() ? std::string_view::npos : letters.find(peek());
    if (which == std::string_view::npos) return fail_at(begin, "the escape is not one that JSON knows");
    ++at_;
    if (out != nullptr) *out += meanings[which];
    written_ += json::written_bytes(static_cast<unsigned char>(meanings[which]));
    return true;
  }

  bool unicode_escape(std::size_t begin, std::string* out) {
    const auto unit = four_hex();
    if (!unit) return fail_at(begin, "\\u must be followed by four hex digits");
    char32_t code_point = *unit;
    if (code_point == 0 && !any_text_) return fail_at(begin, "\\u0000 is not allowed");
    if (is_low_surrogate(code_point)) return unpaired(begin, at_, out);
    if (is_high_surrogate(code_point)) {
      const std::size_t behind = at_;
      const auto low = take('\\') && take('u') ? four_hex() : std::nullopt;
      if (!low || !is_low_surrogate(*low)) return unpaired(begin, behind, out);
      code_point = 0x10000 + ((code_point - 0xD800) << 10) + (*low - 0xDC00);
    }
    if (out != nullptr) utf8::append_code_point(*out, code_point);
    written_ += json::written_bytes(code_point);
    return true;
  }

  bool unpaired(std::size_t begin, std::size_t behind, std::string* out) {
    if (!any_text_) return fail_at(begin, "a surrogate escape has no partner");
    at_ = behind;
    if (out != nullptr) *out += utf8::kReplacement;
    return true;
  }

  std::optional<char32_t> four_hex() {
    char32_t unit = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const int digit = hex_value(peek());
      if (digit < 0) return std::nullopt;
      unit = unit << 4 | static_cast<char32_t>(digit);
    }
    return unit;
  }

  std::string_view text_;
  int depth_limit_;
  bool storable_;
  bool measured_;
  bool any_text_;
  Split split_ = nullptr;
  // Of the part that is being read.
  std::size_t written_ = 0;
  int deepest_ = 0;
  bool fits_ = true;
  std::size_t at_ = 0;
  int depth_ = 0;
  Kind kind_ = Kind::null;
  std::size_t failed_at_ = 0;
  std::string_view problem_;
  bool valid_ = false;                // what is wrong is not the JSON
  std::optional<std::string> twice_;  // the member that is there twice
};

}  // namespace sluice::json
