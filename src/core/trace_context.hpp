// The identity of a span as it travels: the W3C traceparent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

struct TraceContext {
  std::uint64_t trace_high = 0;
  std::uint64_t trace_low = 0;  ///< what a ratio is applied to: its lower 56 bits are random
  std::uint64_t span_id = 0;
  std::uint8_t flags = 0;

  static constexpr std::uint8_t kSampled = 1;
  [[nodiscard]] bool is_sampled() const { return (flags & kSampled) != 0; }

  [[nodiscard]] std::string trace_id() const;      ///< 32 hexadecimal digits
  [[nodiscard]] std::string span_id_text() const;  ///< 16 hexadecimal digits
  [[nodiscard]] std::string traceparent() const;
  bool operator==(const TraceContext&) const = default;
};

/// None: it is no traceparent, or one of a version that is not known.
std::optional<TraceContext> parse_traceparent(std::string_view text);

/// An address with `{trace_id}` in it, for people who look for a trace: `https://traces.example.com/{trace_id}`.
inline constexpr std::string_view kTraceIdPlace = "{trace_id}";
/// None: there is no template, or nothing that it could be filled with.
std::optional<std::string> trace_url(std::string_view address, const std::optional<std::string>& traceparent);
/// Of a trace by its id.
std::optional<std::string> trace_url_of(std::string_view address, std::string_view trace_id);

}  // namespace sluice
