#include "core/settle.hpp"

#include <gtest/gtest.h>

#include <climits>

namespace sluice {
namespace {

using namespace std::chrono_literals;

const Failure kTimeout{"TimeoutError", "no answer after 30 s", {}, false};
const Failure kBadPayload{"PayloadError", "total is missing", {}, false};

RetryPolicy plain() {
  RetryPolicy policy;
  policy.jitter = Jitter::none;
  return policy;
}

TEST(Settle, HandledIsDelivered) {
  const Settlement settlement = settle(3, Outcome::handled(), plain(), 0.5);
  EXPECT_EQ(settlement.next, Status::delivered);
  EXPECT_EQ(settlement.cause, Cause::deliver);
  EXPECT_FALSE(settlement.counts_attempt);
  EXPECT_TRUE(settlement.last_error.empty());
}

TEST(Settle, TheFifthFailedAttemptFails) {
  for (int before = 0; before < 4; ++before) {
    const Settlement settlement = settle(before, Outcome::failed(kTimeout), plain(), 0.5);
    EXPECT_EQ(settlement.next, Status::pending) << before;
    EXPECT_EQ(settlement.cause, Cause::retry);
    EXPECT_TRUE(settlement.counts_attempt);
    EXPECT_EQ(settlement.delay, plain().bound(before + 1));
    EXPECT_FALSE(settlement.not_before);
  }
  const Settlement fifth = settle(4, Outcome::failed(kTimeout), plain(), 0.5);
  EXPECT_EQ(fifth.next, Status::failed);
  EXPECT_EQ(fifth.cause, Cause::fail);
  EXPECT_TRUE(fifth.counts_attempt);
  EXPECT_EQ(fifth.last_error, "TimeoutError: no answer after 30 s");
  EXPECT_EQ(fifth.error_class, "TimeoutError");
  EXPECT_EQ(fifth.fingerprint, fingerprint("TimeoutError", "no answer after 99 s"));
}

TEST(Settle, MoreAttemptsThanThePolicyAllowsStillFails) {
  EXPECT_EQ(settle(INT_MAX, Outcome::failed(kTimeout), plain(), 0.5).next, Status::failed);
  RetryPolicy once = plain();
  once.max_attempts = 1;
  EXPECT_EQ(settle(0, Outcome::failed(kTimeout), once, 0.5).next, Status::failed);
}

TEST(Settle, ATerminalFailureFailsAtOnce) {
  const Settlement settlement = settle(0, Outcome::failed(kBadPayload), plain(), 0.5);
  EXPECT_EQ(settlement.next, Status::failed);
  EXPECT_EQ(settlement.cause, Cause::fail);
  EXPECT_TRUE(settlement.counts_attempt);
  EXPECT_EQ(settlement.last_error, "PayloadError: total is missing");
}

TEST(Settle, JitterScalesTheDelay) {
  const RetryPolicy policy;
  EXPECT_EQ(settle(2, Outcome::failed(kTimeout), policy, 0.0).delay, 0s);
  EXPECT_EQ(settle(2, Outcome::failed(kTimeout), policy, 0.25).delay, 1s);
}

TEST(Settle, APeerMayAskForALongerDelayUpToAnHour) {
  Outcome outcome = Outcome::failed(kTimeout);
  outcome.retry_after = 45s;
  EXPECT_EQ(settle(0, outcome, plain(), 0.5).delay, 45s);
  outcome.retry_after = 24h;
  EXPECT_EQ(settle(0, outcome, plain(), 0.5).delay, 1h);
}

TEST(Settle, APeerCannotShortenThePolicysDelay) {
  Outcome outcome = Outcome::failed(kTimeout);
  outcome.retry_after = 1s;
  EXPECT_EQ(settle(3, outcome, plain(), 0.5).delay, 8s);
  RetryPolicy slow = plain();
  slow.base = 2h;
  slow.cap = 6h;
  outcome.retry_after = 5h;
  EXPECT_EQ(settle(0, outcome, slow, 0.5).delay, 2h);
}

TEST(Settle, ReleasedCountsNothingAndIsDueAtOnce) {
  const Settlement settlement = settle(4, Outcome::released(), plain(), 0.5);
  EXPECT_EQ(settlement.next, Status::pending);
  EXPECT_EQ(settlement.cause, Cause::release);
  EXPECT_FALSE(settlement.counts_attempt);
  EXPECT_EQ(settlement.delay, 0s);
  EXPECT_FALSE(settlement.not_before);
}

TEST(Settle, DeferredCountsNothingAndWaitsForItsTime) {
  const Timestamp until{1'000'000s};
  const Settlement relative = settle(4, Outcome::deferred_for(30s), plain(), 0.5);
  EXPECT_EQ(relative.delay, 30s);
  EXPECT_FALSE(relative.not_before);
  EXPECT_FALSE(relative.counts_attempt);
  const Settlement settlement = settle(4, Outcome::deferred(until), plain(), 0.5);
  EXPECT_EQ(settlement.next, Status::pending);
  EXPECT_EQ(settlement.cause, Cause::release);
  EXPECT_FALSE(settlement.counts_attempt);
  EXPECT_EQ(settlement.not_before, until);
}

TEST(Settle, AnExpiredClaimCountsAsAnAttempt) {
  const Settlement settlement = settle(1, Outcome::expired(), plain(), 0.5);
  EXPECT_EQ(settlement.next, Status::pending);
  EXPECT_EQ(settlement.cause, Cause::expire);
  EXPECT_TRUE(settlement.counts_attempt);
  EXPECT_EQ(settlement.last_error, "ClaimExpired: claim expired");
  EXPECT_EQ(settlement.error_class, "ClaimExpired");
  EXPECT_EQ(settlement.delay, 2s);
}

TEST(Settle, TheFifthExpiredClaimFails) {
  const Settlement settlement = settle(4, Outcome::expired(), plain(), 0.5);
  EXPECT_EQ(settlement.next, Status::failed);
  EXPECT_EQ(settlement.cause, Cause::fail);
}

TEST(Settle, EveryDecisionIsAnEdgeFromInFlight) {
  for (const Outcome& outcome : {Outcome::handled(), Outcome::failed(kTimeout), Outcome::failed(kBadPayload),
                                 Outcome::deferred(Timestamp{1s}), Outcome::released(), Outcome::expired()}) {
    for (int attempts = 0; attempts < 6; ++attempts) {
      const Settlement settlement = settle(attempts, outcome, plain(), 0.5);
      bool found = false;
      for (const Edge& edge : kEdges) {
        found =
            found || (edge.from == Status::in_flight && edge.to == settlement.next && edge.cause == settlement.cause);
      }
      EXPECT_TRUE(found) << name(settlement.next) << " by " << name(settlement.cause);
    }
  }
}

}  // namespace

namespace {

TEST(Progress, RoundTripsThroughJson) {
  const std::vector<HandlerProgress> progress{
      {"worlds.indexer", 2, Timestamp{std::chrono::seconds{1'750'000'000}}, false, "Error: \"quoted\"\n", "Error",
       "abc"},
      {"billing.invoice", 5, Timestamp{std::chrono::microseconds{1}}, true, {}, {}, {}},
  };
  const auto read = progress_from_json(progress_to_json(progress));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, progress);
}

TEST(Progress, NoneIsEmptyText) {
  EXPECT_EQ(progress_to_json({}), "");
  EXPECT_TRUE(progress_from_json("")->empty());
}

TEST(Progress, IgnoresWhatItDoesNotKnowAndRefusesNonsense) {
  const auto read = progress_from_json(R"([{"handler":"a.b","colour":"red"}])");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->at(0).handler_name, "a.b");
  EXPECT_FALSE(progress_from_json("{"));
  EXPECT_FALSE(progress_from_json(R"([{"due":"yesterday"}])"));
  EXPECT_FALSE(progress_from_json(R"([{"handler":7}])"));
}

}  // namespace

}  // namespace sluice
