#include "alert/http/http_verdict.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "core/characters.hpp"
#include "core/utf8.hpp"
#include "core/words.hpp"

namespace sluice::alert {
namespace {

using http_client::Answer;
using http_client::NoAnswer;

constexpr Duration kUsualSilence = std::chrono::seconds{60};
constexpr std::size_t kMostShown = 200;

// What the receiver says about a refusal, as one short line.
std::string excerpt(std::string_view body) {
  std::string line{utf8::prefix(body, kMostShown)};
  std::replace_if(line.begin(), line.end(), is_control, ' ');
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string shown(const Answer& answer) {
  const std::string said = excerpt(answer.body);
  return std::to_string(answer.status) + (said.empty() ? "" : ": " + said);
}

std::optional<Duration> silence_of(const Answer& answer, Timestamp now) {
  if (const auto limits = answer.header("x-sentry-rate-limits")) {
    if (const auto silence = parse_rate_limits(*limits)) return silence;
  }
  // On a success it would only concern the next request of a kind that Sentry names above.
  if (answer.status < 400) return std::nullopt;
  const auto after = answer.header("retry-after");
  return after ? http_client::parse_retry_after(*after, now) : std::nullopt;
}

Error no_answer(const Answer& answer) {
  const bool late = answer.reason == NoAnswer::timeout || answer.reason == NoAnswer::stopped;
  return {late ? ErrorCode::timeout : ErrorCode::unavailable, Retry::safe,
          "no answer from the receiver: " + answer.detail, "", ""};
}

}  // namespace

std::optional<Duration> parse_rate_limits(std::string_view text) {
  std::optional<Duration> longest;
  for (std::string_view limit : split(text, ',')) {
    while (limit.starts_with(' ')) limit.remove_prefix(1);
    const auto fields = split(limit, ':');
    const auto seconds = http_client::parse_delay_seconds(fields.front());
    if (!seconds || fields.size() < 2) continue;
    const auto categories = split(fields[1], ';');
    const bool ours = fields[1].empty() || std::find(categories.begin(), categories.end(), "error") != categories.end();
    if (ours) longest = std::max(longest.value_or(Duration::zero()), *seconds);
  }
  return longest;
}

Result<Sent> verdict_of(const Answer& answer, Timestamp now) {
  if (answer.status == 0) return no_answer(answer);
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
