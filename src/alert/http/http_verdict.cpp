#include "alert/http/http_verdict.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "core/utf8.hpp"
#include "net/retry_after.hpp"

namespace sluice::alert {
namespace {

constexpr Duration kUsualSilence = std::chrono::seconds{60};
constexpr std::size_t kMostShown = 200;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// What the receiver says about a refusal, as one short line.
std::string excerpt(std::string_view body) {
  std::string line{utf8::prefix(body, kMostShown)};
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string shown(const HttpAnswer& answer) {
  const std::string said = excerpt(answer.body);
  return std::to_string(answer.status) + (said.empty() ? "" : ": " + said);
}

std::optional<std::string_view> header(const HttpAnswer& answer, std::string_view name) {
  const auto found = answer.headers.find(name);
  if (found == answer.headers.end()) return std::nullopt;
  return found->second;
}

std::optional<Duration> silence_of(const HttpAnswer& answer, Timestamp now) {
  if (const auto limits = header(answer, "x-sentry-rate-limits")) {
    if (const auto silence = parse_rate_limits(*limits)) return silence;
  }
  // On a success it would only concern the next request of a kind that Sentry names above.
  if (answer.status < 400) return std::nullopt;
  const auto after = header(answer, "retry-after");
  return after ? net::parse_retry_after(*after, now) : std::nullopt;
}

}  // namespace

std::optional<Duration> parse_rate_limits(std::string_view text) {
  std::optional<Duration> longest;
  for (std::string_view limit : split(text, ',')) {
    while (limit.starts_with(' ')) limit.remove_prefix(1);
    const auto fields = split(limit, ':');
    const auto seconds = net::parse_delay_seconds(fields.front());
    if (!seconds || fields.size() < 2) continue;
    const auto categories = split(fields[1], ';');
    const bool ours = fields[1].empty() || std::find(categories.begin(), categories.end(), "error") != categories.end();
    if (ours) longest = std::max(longest.value_or(Duration::zero()), *seconds);
  }
  return longest;
}

Result<Sent> verdict_of(const HttpAnswer& answer, Timestamp now) {
  const auto silence = silence_of(answer, now);
  const std::string said = shown(answer);
  if (answer.status >= 200 && answer.status < 300) return Sent{true, silence, std::to_string(answer.status)};
  if (answer.status == 429) return Sent{false, silence.value_or(kUsualSilence), said};
  if (answer.status == 503 && silence) return Sent{false, silence, said};
  const bool passing = answer.status >= 500 || answer.status == 408;
  return Error{passing ? ErrorCode::unavailable : ErrorCode::forbidden, passing ? Retry::safe : Retry::never,
               "the receiver answered " + said, "", ""};
}

}  // namespace sluice::alert
