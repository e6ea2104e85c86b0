#include "http_client/answer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice::http_client {
namespace {

constexpr std::chrono::seconds kLongest = std::chrono::hours{24};

// `Wed, 21 Oct 2026 07:28:00 GMT`, by position.
std::optional<Timestamp> parse_http_date(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || !text.ends_with(" GMT")) return std::nullopt;
  const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  if (month == kMonths.end()) return std::nullopt;
  const std::string number = std::to_string(101 + (month - kMonths.begin())).substr(1);
  const auto part = [&](std::size_t from, std::size_t length) { return std::string{text.substr(from, length)}; };
  const auto parsed = parse_iso8601(part(12, 4) + '-' + number + '-' + part(5, 2) + 'T' + part(17, 8) + 'Z');
  return parsed ? std::optional{*parsed} : std::nullopt;
}

}  // namespace

std::string_view name(NoAnswer reason) {
  switch (reason) {
    case NoAnswer::timeout:
      return "timeout";
    case NoAnswer::connection_refused:
      return "connection_refused";
    case NoAnswer::unreachable:
      return "unreachable";
    case NoAnswer::name:
      return "unknown_host";
    case NoAnswer::tls:
      return "tls";
    case NoAnswer::connection_lost:
      return "connection_lost";
    case NoAnswer::ssrf_refused:
      return "ssrf_refused";
    case NoAnswer::too_large:
      return "answer_too_large";
    case NoAnswer::stopped:
      return "stopped";
  }
  return "connection_lost";
}

std::optional<std::string_view> Answer::header(std::string_view lower_name) const {
  const auto found = headers.find(lower_name);
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

std::optional<Duration> parse_delay_seconds(std::string_view text) {
  std::int64_t seconds = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, seconds);
  if (problem == std::errc::result_out_of_range) return kLongest;
  if (problem != std::errc{} || stop != end || seconds < 0) return std::nullopt;
  return std::chrono::seconds{std::min<std::int64_t>(seconds, kLongest.count())};
}

std::optional<Duration> parse_retry_after(std::string_view text, Timestamp now) {
  if (const auto seconds = parse_delay_seconds(text)) return seconds;
  const auto date = parse_http_date(text);
  if (!date) return std::nullopt;
  return std::clamp(std::chrono::duration_cast<Duration>(*date - now), Duration::zero(), Duration{kLongest});
}

}  // namespace sluice::http_client
