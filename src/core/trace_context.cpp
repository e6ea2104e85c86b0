#include "core/trace_context.hpp"

#include "core/generation.hpp"

namespace sluice {
namespace {

constexpr std::size_t kTraceAt = 3;
constexpr std::size_t kSpanAt = 36;
constexpr std::size_t kFlagsAt = 53;

void append_hex(std::string& out, std::uint64_t value, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += kDigits[(value >> shift) & 15U];
}

// Of digits that are known to be some.
std::uint64_t read_hex(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char c : digits) value = (value << 4U) | static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  return value;
}

}  // namespace

std::string TraceContext::trace_id() const {
  std::string text;
  append_hex(text, trace_high, 16);
  append_hex(text, trace_low, 16);
  return text;
}

std::string TraceContext::span_id_text() const {
  std::string text;
  append_hex(text, span_id, 16);
  return text;
}

std::string TraceContext::traceparent() const {
  std::string text;
  text.reserve(kFlagsAt + 2);
  text += "00-";
  append_hex(text, trace_high, 16);
  append_hex(text, trace_low, 16);
  text += '-';
  append_hex(text, span_id, 16);
  text += '-';
  append_hex(text, flags, 2);
  return text;
}

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  if (text.empty() || !check_trace_context(text)) return std::nullopt;
  return TraceContext{read_hex(text.substr(kTraceAt, 16)), read_hex(text.substr(kTraceAt + 16, 16)),
                      read_hex(text.substr(kSpanAt, 16)),
                      static_cast<std::uint8_t>(read_hex(text.substr(kFlagsAt, 2)))};
}

std::optional<std::string> trace_url(std::string_view address, const std::optional<std::string>& traceparent) {
  const auto context = traceparent ? parse_traceparent(*traceparent) : std::nullopt;
  return context ? trace_url_of(address, context->trace_id()) : std::nullopt;
}

std::optional<std::string> trace_url_of(std::string_view address, std::string_view trace_id) {
  const std::size_t place = address.find(kTraceIdPlace);
  if (place == std::string_view::npos || trace_id.empty()) return std::nullopt;
  std::string url{address};
  return url.replace(place, kTraceIdPlace.size(), trace_id);
}

}  // namespace sluice
