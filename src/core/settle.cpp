#include "core/settle.hpp"

#include <algorithm>
#include <charconv>

#include "core/json.hpp"
#include "core/try.hpp"

namespace sluice {
namespace {

// A peer may slow us down, but not park an event for days.
constexpr Duration kLongestRequestedDelay = std::chrono::hours{1};

Settlement give_back(const Outcome& outcome) {
  Settlement settlement;
  settlement.next = Status::pending;
  settlement.cause = Cause::release;
  settlement.not_before = outcome.not_before;
  settlement.delay = outcome.wait.value_or(Duration::zero());
  return settlement;
}

Settlement count_failure(const Failure& failure) {
  Settlement settlement;
  settlement.counts_attempt = true;
  settlement.records_error = true;
  settlement.last_error = failure.last_error();
  settlement.error_class = effective_class(failure);
  settlement.fingerprint = fingerprint(settlement.error_class, failure.message);
  return settlement;
}

struct FailedAttempt {
  int attempts_before;
  Failure failure;
  Cause retry_cause;
  Duration requested_delay;
};

Settlement after_failure(const FailedAttempt& attempt, const RetryPolicy& policy, double uniform01) {
  Settlement settlement = count_failure(attempt.failure);
  // A policy that was made stricter meanwhile does not make the count pass its maximum.
  settlement.counts_attempt = attempt.attempts_before < policy.max_attempts;
  const bool last_attempt = attempt.attempts_before >= policy.max_attempts - 1;
  if (last_attempt || classify(attempt.failure, policy) == Disposition::terminal) {
    settlement.next = Status::failed;
    settlement.cause = Cause::fail;
    return settlement;
  }
  settlement.next = Status::pending;
  settlement.cause = attempt.retry_cause;
  settlement.delay = std::max(policy.delay(attempt.attempts_before + 1, uniform01),
                              std::min(attempt.requested_delay, kLongestRequestedDelay));
  return settlement;
}

}  // namespace

Settlement settle(int attempts, const Outcome& outcome, const RetryPolicy& policy, double uniform01) {
  switch (outcome.kind) {
    case Outcome::Kind::handled:
      return {};
    case Outcome::Kind::deferred:
    case Outcome::Kind::released:
      return give_back(outcome);
    case Outcome::Kind::failed:
      return after_failure({attempts, outcome.failure, Cause::retry, outcome.retry_after.value_or(Duration::zero())},
                           policy, uniform01);
    case Outcome::Kind::expired:
      return after_failure({attempts, expiry_failure(), Cause::expire, Duration::zero()}, policy, uniform01);
  }
  return {};
}

namespace {

void member(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out += ',';
  json::append_quoted(out, name);
  out += ':';
  json::append_quoted(out, value);
}

Result<void> read(HandlerProgress& progress, const json::Member& member) {
  const auto text = [&](std::string& into) -> Result<void> {
    SLUICE_TRY(into, json::string_value(member.value, "progress"));
    return {};
  };
  if (member.name == "handler") return text(progress.handler_name);
  if (member.name == "last_error") return text(progress.last_error);
  if (member.name == "error_class") return text(progress.error_class);
  if (member.name == "fingerprint") return text(progress.fingerprint);
  // The name of the member is what stores hold.
  if (member.name == "exhausted") progress.out_of_attempts = member.value == "true";
  if (member.name == "aside") progress.aside = member.value == "true";
  if (member.name == "attempts") {
    std::from_chars(member.value.data(), member.value.data() + member.value.size(), progress.attempts);
  }
  if (member.name == "deliveries") {
    std::from_chars(member.value.data(), member.value.data() + member.value.size(), progress.deliveries);
  }
  if (member.name == "due") {
    std::string due;
    SLUICE_CHECK(text(due));
    SLUICE_TRY(progress.due, parse_iso8601(due, "progress"));
  }
  return {};
}

}  // namespace

std::string progress_to_json(const std::vector<HandlerProgress>& progress) {
  if (progress.empty()) return {};
  std::string out = "[";
  for (const HandlerProgress& one : progress) {
    if (out.size() > 1) out += ',';
    out += R"({"handler":)";
    json::append_quoted(out, one.handler_name);
    out += R"(,"attempts":)" + std::to_string(one.attempts);
    out += R"(,"due":")" + to_iso8601(one.due) + '"';
    if (one.deliveries > 0) out += R"(,"deliveries":)" + std::to_string(one.deliveries);
    if (one.out_of_attempts) out += R"(,"exhausted":true)";
    if (one.aside) out += R"(,"aside":true)";
    member(out, "last_error", one.last_error);
    member(out, "error_class", one.error_class);
    member(out, "fingerprint", one.fingerprint);
    out += '}';
  }
  return out + ']';
}

Result<std::vector<HandlerProgress>> progress_from_json(std::string_view json) {
  std::vector<HandlerProgress> all;
  if (json.empty()) return all;
  SLUICE_TRY(const auto elements, json::elements(json, "progress"));
  for (const std::string_view element : elements) {
    SLUICE_TRY(const auto members, json::members(element, "progress"));
    HandlerProgress one;
    for (const json::Member& each : members) {
      SLUICE_CHECK(read(one, each));
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace sluice
