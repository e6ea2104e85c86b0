#include "core/settle.hpp"

#include <algorithm>

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
      return after_failure({attempts, Failure{std::string{error_class::claim_expired}, "claim expired", {}, false},
                            Cause::expire, Duration::zero()},
                           policy, uniform01);
  }
  return {};
}

}  // namespace sluice
