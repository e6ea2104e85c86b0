#include "core/failure.hpp"

#include <algorithm>
#include <array>

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

}  // namespace sluice
