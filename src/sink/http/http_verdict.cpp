#include "sink/http/http_verdict.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sink/switched_sink.hpp"

namespace sluice::sink {
namespace {

constexpr int kGone = 410;
// The body will not become smaller.
constexpr std::array kTerminal{kGone, 413};

bool is_success(int status) { return status >= 200 && status < 300; }

template <class Statuses>
bool contains(const Statuses& statuses, int status) {
  return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

std::string hint_of(const Answer& answer) {
  if (answer.status >= 300 && answer.status < 400) return " (redirects are not followed)";
  return "";
}

}  // namespace

bool StatusRules::is_terminal(int status) const {
  if (contains(transient, status)) return false;
  return contains(kTerminal, status) || contains(terminal, status);
}

bool is_gone(const Answer& answer, const StatusRules& rules) {
  return answer.status == kGone && rules.is_terminal(kGone);
}

bool is_trouble(const Answer& answer) {
  constexpr std::array kBusy{408, 425, 429};
  if (answer.status == 0) return answer.reason != NoAnswer::stopped;
  return answer.status >= 500 || contains(kBusy, answer.status);
}

std::string described(const Answer& answer) {
  if (answer.status == 0) return excerpt(answer.detail);
  const std::string said = excerpt(answer.body);
  return std::to_string(answer.status) + hint_of(answer) + (said.empty() ? "" : ": " + said);
}

namespace {

Verdict without_response(const Answer& answer, const StatusRules& rules, std::string_view target, Timestamp now) {
  if (is_success(answer.status)) return Verdict::handled();
  if (answer.status == 0) {
    std::string message = "no answer from " + std::string{target} + ": " + described(answer);
    if (answer.reason == NoAnswer::stopped) return Verdict::stopped(std::move(message));
    return Verdict::failed(std::string{name(answer.reason)}, std::move(message));
  }
  Verdict verdict =
      Verdict::failed("http_" + std::to_string(answer.status), std::string{target} + " answered " + described(answer));
  verdict.terminal = rules.is_terminal(answer.status);
  if (is_gone(answer, rules)) {
    verdict.message += "; the receiver is gone, so the sink is disabled until it is resumed";
  }
  if (const auto after = answer.header("retry-after"); after && !verdict.terminal) {
    verdict.retry_after = http_client::parse_retry_after(*after, now);
  }
  return verdict;
}

}  // namespace

Verdict verdict_of(const Answer& answer, const StatusRules& rules, std::string_view target, Timestamp now) {
  Verdict verdict = without_response(answer, rules, target, now);
  if (answer.status != 0) verdict.response = {answer.status, excerpt(answer.body)};
  return verdict;
}

}  // namespace sluice::sink
