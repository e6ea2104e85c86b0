#include "core/failure.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/characters.hpp"
#include "core/utf8.hpp"

namespace sluice {
namespace {

constexpr std::size_t kClassMaxBytes = 128;
constexpr std::string_view kCutMark = "…";

constexpr std::array kTerminalClasses{error_class::payload, error_class::integrity, error_class::terminal};

void append_visible(std::string& out, char control) {
  constexpr std::string_view digits = "0123456789abcdef";
  switch (control) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(control);
  out.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 0xF]);
}

void append_readable(std::string& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8::length_at(text, at);
    if (length == 0) {
      out += utf8::kReplacement;
    } else if (is_control(text[at])) {
      append_visible(out, text[at]);
    } else {
      out.append(text, at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
}

std::string cut(std::string text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  std::string shorter{utf8::prefix(text, max_bytes - kCutMark.size())};
  return shorter.append(kCutMark);
}

std::string_view class_of_sqlstate(std::string_view sqlstate) {
  if (sqlstate.starts_with("23")) return error_class::integrity;
  if (sqlstate.starts_with("08") || sqlstate.starts_with("57P")) return error_class::connection;
  if (sqlstate == "57014") return error_class::timeout;
  return error_class::operational;
}

// A colon ends the class in last_error, so a class never holds one: `acme::OrderError` is filed as
// `OrderError`.
std::string without_colons(std::string_view given) {
  if (const std::size_t scope = given.rfind("::"); scope != std::string_view::npos) given.remove_prefix(scope + 2);
  std::string name;
  append_readable(name, given);
  std::replace(name.begin(), name.end(), ':', '_');
  return std::string{utf8::prefix(name, kClassMaxBytes)};
}

}  // namespace

std::string effective_class(const Failure& failure) {
  if (std::string own = without_colons(failure.error_class); !own.empty()) return own;
  if (!failure.sqlstate.empty()) return std::string{class_of_sqlstate(failure.sqlstate)};
  return std::string{failure.terminal ? error_class::terminal : error_class::unknown};
}

std::string Failure::last_error() const {
  std::string text = effective_class(*this);
  text += ": ";
  // Escaping at most quadruples a byte, so more input than this cannot matter.
  append_readable(text, utf8::prefix(message, kLastErrorMaxBytes + 1));
  return cut(std::move(text), kLastErrorMaxBytes);
}

Disposition classify(const Failure& failure, const RetryPolicy& policy) {
  const std::string filed_under = effective_class(failure);
  const auto names = [&](std::string_view candidate) {
    return candidate == filed_under || candidate == failure.error_class;
  };
  const bool terminal = failure.terminal || failure.sqlstate.starts_with("23") ||
                        std::any_of(kTerminalClasses.begin(), kTerminalClasses.end(), names) ||
                        std::any_of(policy.terminal_errors.begin(), policy.terminal_errors.end(), names);
  return terminal ? Disposition::terminal : Disposition::transient;
}

// The normaliser is a hand-written scanner: std::regex recurses once per character and is slow.

namespace {

constexpr std::size_t kNormalisedMaxBytes = 512;
constexpr std::size_t kScannedMaxBytes = 4096;
constexpr std::size_t kMailboxMaxBytes = 64;
constexpr std::size_t kIdMinBytes = 6;
constexpr std::size_t kLongIdMinBytes = 16;

bool is_word(char c) { return is_digit(c) || is_letter(c); }
bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }
bool is_blank(char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F; }

// Matches a text against a shape, at a position, with one character of look-ahead.
class Cursor {
 public:
  Cursor(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  bool take(std::string_view any_of) {
    if (at_ >= text_.size() || any_of.find(text_[at_]) == std::string_view::npos) return false;
    ++at_;
    return true;
  }

  std::size_t run(bool (*test)(char), std::size_t longest = kScannedMaxBytes) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && at_ - begin < longest && test(text_[at_])) ++at_;
    return at_ - begin;
  }

  [[nodiscard]] bool ends_word() const { return !is_word(peek()); }

 private:
  std::string_view text_;
  std::size_t at_;
};

// Each match_… returns the position behind what it recognised, or 0.

std::size_t match_uuid(std::string_view text, std::size_t at) {
  Cursor cursor{text, at};
  constexpr std::array<std::size_t, 5> groups{8, 4, 4, 4, 12};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i != 0 && !cursor.take("-")) return 0;
    if (cursor.run(is_hex, groups[i]) != groups[i]) return 0;
  }
  return cursor.ends_word() ? cursor.at() : 0;
}

void take_clock(Cursor& cursor) {
  cursor.run(is_digit, 2);
  while (cursor.peek() == ':' && is_digit(cursor.peek(1))) {
    cursor.take(":");
    cursor.run(is_digit, 2);
  }
  if ((cursor.peek() == '.' || cursor.peek() == ',') && is_digit(cursor.peek(1))) {
    cursor.take(".,");
    cursor.run(is_digit);
  }
}

void take_zone(Cursor& cursor) {
  if (cursor.take("Zz")) return;
  if ((cursor.peek() != '+' && cursor.peek() != '-') || !is_digit(cursor.peek(1))) return;
  cursor.take("+-");
  cursor.run(is_digit, 4);
  if (cursor.peek() == ':' && is_digit(cursor.peek(1))) {
    cursor.take(":");
    cursor.run(is_digit, 2);
  }
}

std::size_t match_time(std::string_view text, std::size_t at) {
  Cursor cursor{text, at};
  const std::size_t first = cursor.run(is_digit);
  if (first == 4 && cursor.take("-") && cursor.run(is_digit, 2) == 2 && cursor.take("-") &&
      cursor.run(is_digit, 2) == 2) {
    if ((cursor.peek() == 'T' || cursor.peek() == 't' || cursor.peek() == ' ') && is_digit(cursor.peek(1)) &&
        is_digit(cursor.peek(2)) && cursor.peek(3) == ':') {
      cursor.take("Tt ");
      take_clock(cursor);
      take_zone(cursor);
    }
    return cursor.ends_word() ? cursor.at() : 0;
  }
  Cursor clock{text, at};
  if (first != 2 || clock.peek(2) != ':' || !is_digit(clock.peek(3)) || !is_digit(clock.peek(4)) ||
      clock.peek(5) != ':')
    return 0;
  take_clock(clock);
  take_zone(clock);
  return clock.ends_word() ? clock.at() : 0;
}

void take_port(Cursor& cursor) {
  if (cursor.peek() != ':' || !is_digit(cursor.peek(1))) return;
  cursor.take(":");
  cursor.run(is_digit, 5);
}

std::size_t match_ipv4(std::string_view text, std::size_t at) {
  Cursor cursor{text, at};
  for (int group = 0; group < 4; ++group) {
    if (group != 0 && !cursor.take(".")) return 0;
    if (cursor.run(is_digit, 3) == 0) return 0;
  }
  if (cursor.peek() == '.' && is_digit(cursor.peek(1))) return 0;
  take_port(cursor);
  return cursor.ends_word() ? cursor.at() : 0;
}

// Hex groups joined by colons: an IPv6 or a hardware address. Two colons at least, so that `12:30`
// and `code:5` are not taken for one.
std::size_t match_ipv6(std::string_view text, std::size_t at) {
  Cursor cursor{text, at};
  int colons = 0;
  while (cursor.run(is_hex, 4) > 0 || cursor.peek() == ':') {
    if (cursor.peek() != ':' || (cursor.peek(1) != ':' && !is_hex(cursor.peek(1)))) break;
    cursor.take(":");
    ++colons;
  }
  return colons >= 2 && cursor.ends_word() ? cursor.at() : 0;
}

std::size_t match_mailbox(std::string_view text, std::size_t at) {
  Cursor cursor{text, at};
  const auto is_local = [](char c) { return is_word(c) || c == '.' || c == '_' || c == '+' || c == '-'; };
  const auto is_domain = [](char c) { return is_word(c) || c == '.' || c == '-'; };
  if (cursor.run(is_local, kMailboxMaxBytes) == 0 || !cursor.take("@")) return 0;
  return cursor.run(is_domain) > 0 ? cursor.at() : 0;
}

// A quote opens only where a word cannot be running: "can't" holds none.
std::size_t match_quoted(std::string_view text, std::size_t at) {
  if (!is_quote(text[at]) || (at > 0 && is_word(text[at - 1]))) return 0;
  for (std::size_t end = at + 1; end < text.size(); ++end) {
    if (text[end] == '\\') {
      ++end;
    } else if (text[end] == text[at] && (end + 1 == text.size() || !is_word(text[end + 1]))) {
      return end + 1;
    }
  }
  return 0;
}

std::size_t match_number(std::string_view text, std::size_t at) {
  Cursor cursor{text, at};
  cursor.run(is_digit);
  if (cursor.peek() == '.' && is_digit(cursor.peek(1))) {
    cursor.take(".");
    cursor.run(is_digit);
  }
  return cursor.at();
}

// A word that names one thing rather than a kind of thing: hex, or letters and digits in turns.
bool is_identifier(std::string_view word) {
  if (word.size() > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X')) return true;
  const auto digits = std::count_if(word.begin(), word.end(), is_digit);
  if (digits == 0) return false;
  if (word.size() >= kIdMinBytes && std::all_of(word.begin(), word.end(), is_hex)) return true;
  if (word.size() >= kLongIdMinBytes) return true;
  int turns = 0;
  for (std::size_t i = 1; i < word.size(); ++i) turns += is_digit(word[i]) != is_digit(word[i - 1]) ? 1 : 0;
  return turns >= 3;
}

class Normaliser {
 public:
  explicit Normaliser(std::string_view text) : text_(utf8::prefix(text, kScannedMaxBytes)) {}

  std::string run() {
    while (at_ < text_.size() && out_.size() < kNormalisedMaxBytes) step();
    while (!out_.empty() && out_.back() == ' ') out_.pop_back();
    return std::string{utf8::prefix(out_, kNormalisedMaxBytes)};
  }

 private:
  void step() {
    const char c = text_[at_];
    if (is_blank(c)) {
      if (!out_.empty() && out_.back() != ' ') out_ += ' ';
      ++at_;
    } else if (is_quote(c)) {
      replace(match_quoted(text_, at_), "<text>") || copy();
    } else if (c == ':' && (at_ == 0 || !is_word(text_[at_ - 1]))) {
      replace(match_ipv6(text_, at_), "<address>") || copy();
    } else if (is_word(c)) {
      word();
    } else {
      copy();
    }
  }

  // At the start of a word: the longest shapes first.
  void word() {
    if (replace(match_uuid(text_, at_), "<uuid>") || replace(match_time(text_, at_), "<time>") ||
        replace(match_ipv4(text_, at_), "<address>") || replace(match_ipv6(text_, at_), "<address>") ||
        replace(match_mailbox(text_, at_), "<address>")) {
      return;
    }
    Cursor cursor{text_, at_};
    cursor.run(is_word);
    const std::string_view found = text_.substr(at_, cursor.at() - at_);
    // Numbers and hex share a mark: one random hex id in forty has no letter in it.
    if (is_identifier(found)) {
      replace(cursor.at(), "<n>");
      return;
    }
    while (at_ < cursor.at()) {
      if (is_digit(text_[at_])) {
        replace(match_number(text_, at_), "<n>");
      } else {
        out_ += text_[at_++];
      }
    }
  }

  bool replace(std::size_t end, std::string_view mark) {
    if (end == 0) return false;
    if (mark == "<n>" && out_.ends_with(" -")) out_.pop_back();
    out_ += mark;
    at_ = end;
    return true;
  }

  bool copy() {
    const std::size_t length = utf8::length_at(text_, at_);
    if (length == 0) {
      out_ += utf8::kReplacement;
    } else {
      out_.append(text_, at_, length);
    }
    at_ += std::max<std::size_t>(length, 1);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

// FNV-1a: small, and the same on every machine and in every release.
std::uint64_t fnv1a(std::uint64_t hash, std::string_view text) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001B3U;
  }
  return hash;
}

}  // namespace

std::string normalise_error(std::string_view message) { return Normaliser{message}.run(); }

std::string fingerprint(std::string_view error_class, std::string_view message) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::uint64_t hash = fnv1a(0xCBF29CE484222325U, error_class);
  hash = fnv1a(fnv1a(hash, "\n"), normalise_error(message));
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += digits[hash >> shift & 0xF];
  return text;
}

}  // namespace sluice
