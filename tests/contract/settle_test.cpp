#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

SLUICE_CONTRACT(SettleContract);

TEST_P(SettleContract, Delivered) {
  const Uuid id = publish();
  const SettleReport report = deliver(claim_one());
  EXPECT_EQ(report.settled, 1);
  EXPECT_THAT(report.fenced, IsEmpty());
  const EventRecord after = event(id);
  EXPECT_EQ(after.status, Status::delivered);
  EXPECT_TRUE(after.delivered_at);
  EXPECT_TRUE(after.claimed_at);
  EXPECT_EQ(after.claimed_by, "w1");
  EXPECT_EQ(after.attempts, 0);
  EXPECT_EQ(after.last_error, std::nullopt);
  EXPECT_THAT(claim(), IsEmpty());
}

TEST_P(SettleContract, Retried) {
  const Uuid id = publish();
  const Timestamp before = must(store().now());
  settle(claim_one(), Outcome::failed(timeout_failure()), minute_retries());
  const Timestamp after_settle = must(store().now());
  const EventRecord after = event(id);
  EXPECT_EQ(after.status, Status::pending);
  EXPECT_EQ(after.attempts, 1);
  EXPECT_EQ(after.last_error, "TimeoutError: no answer within 5 s");
  EXPECT_EQ(after.error_class, "TimeoutError");
  EXPECT_EQ(after.fingerprint, fingerprint("TimeoutError", "no answer within 5 s"));
  EXPECT_TRUE(after.first_failed_at);
  EXPECT_EQ(after.claimed_at, std::nullopt);
  EXPECT_EQ(after.claimed_by, std::nullopt);
  EXPECT_EQ(after.claim_seq, 1);
  ASSERT_TRUE(after.retry_after);
  EXPECT_GE(*after.retry_after, before + 60s);
  EXPECT_LE(*after.retry_after, after_settle + 60s);
}

TEST_P(SettleContract, TheFirstFailureIsRemembered) {
  const Uuid id = publish();
  settle(claim_one(), Outcome::failed(timeout_failure()), minute_retries());
  age(10min);
  const auto first = event(id).first_failed_at;
  settle(claim_one(), Outcome::failed({"ConnectionError", "refused", {}, false}), minute_retries());
  EXPECT_EQ(event(id).first_failed_at, first);
  EXPECT_EQ(event(id).attempts, 2);
  EXPECT_EQ(event(id).last_error, "ConnectionError: refused");
}

TEST_P(SettleContract, TheLastAttemptFails) {
  const Uuid id = publish();
  for (int attempt = 1; attempt <= 5; ++attempt) {
    EXPECT_EQ(event(id).status, Status::pending) << "before attempt " << attempt;
    settle(claim_one(), Outcome::failed(timeout_failure()), minute_retries(5));
    age(61s);
  }
  const EventRecord after = event(id);
  EXPECT_EQ(after.status, Status::failed);
  EXPECT_EQ(after.attempts, 5);
  EXPECT_EQ(after.claim_seq, 5);
  EXPECT_THAT(claim(), IsEmpty());
}

TEST_P(SettleContract, ATerminalErrorFailsAtOnce) {
  const EventRecord after = event(failed_event());
  EXPECT_EQ(after.status, Status::failed);
  EXPECT_EQ(after.attempts, 1);
  EXPECT_EQ(after.last_error, "PayloadError: amount is missing");
  EXPECT_EQ(after.error_class, "PayloadError");
  EXPECT_TRUE(after.first_failed_at);
  EXPECT_TRUE(after.claimed_at) << "the runbook reads it as the time of the failure";
  EXPECT_EQ(after.retry_after, std::nullopt);
  EXPECT_EQ(after.delivered_at, std::nullopt);
}

TEST_P(SettleContract, DeferredCountsNothing) {
  const Uuid id = publish();
  const Timestamp until = must(store().now()) + 3h;
  settle(claim_one(), Outcome::deferred(until));
  const EventRecord after = event(id);
  EXPECT_EQ(after.status, Status::pending);
  EXPECT_EQ(after.attempts, 0);
  EXPECT_EQ(after.last_error, std::nullopt);
  EXPECT_EQ(after.retry_after, until);
  EXPECT_THAT(claim(), IsEmpty());
  age(3h + 1s);
  EXPECT_THAT(ids(claim()), ElementsAre(id));
}

TEST_P(SettleContract, ReleasedIsDueAtOnceAndCountsNothing) {
  const Uuid id = publish();
  settle(claim_one(), Outcome::released());
  const EventRecord after = event(id);
  EXPECT_EQ(after.status, Status::pending);
  EXPECT_EQ(after.attempts, 0);
  EXPECT_EQ(after.first_failed_at, std::nullopt);
  EXPECT_EQ(after.claimed_by, std::nullopt);
  const ClaimedEvent again = claim_one();
  EXPECT_EQ(again.envelope.event_id(), id);
  EXPECT_EQ(again.claim.claim_seq, 2);
}

TEST_P(SettleContract, AReleaseKeepsTheFailureOfTheAttemptBefore) {
  const Uuid id = publish();
  settle(claim_one(), Outcome::failed(timeout_failure()), minute_retries());
  age(61s);
  settle(claim_one(), Outcome::released());
  EXPECT_EQ(event(id).attempts, 1);
  EXPECT_EQ(event(id).error_class, "TimeoutError");
}

TEST_P(SettleContract, ABatchOfEveryKind) {
  const auto published = publish(events(4));
  const auto claimed = claim();
  const std::vector items{settle_item(claimed[0], Outcome::handled()),
                          settle_item(claimed[1], Outcome::failed(timeout_failure()), minute_retries()),
                          settle_item(claimed[2], Outcome::failed(terminal_failure())),
                          settle_item(claimed[3], Outcome::released())};
  EXPECT_EQ(must(store().settle(items)).settled, 4);
  EXPECT_EQ(event(published[0]).status, Status::delivered);
  EXPECT_EQ(event(published[1]).status, Status::pending);
  EXPECT_EQ(event(published[2]).status, Status::failed);
  EXPECT_EQ(event(published[3]).status, Status::pending);
}

TEST_P(SettleContract, NothingToSettleIsNoError) {
  const SettleReport report = must(store().settle({}));
  EXPECT_EQ(report.settled, 0);
  EXPECT_THAT(report.fenced, IsEmpty());
}

TEST_P(SettleContract, TwiceIsFenced) {
  const Uuid id = publish();
  const ClaimedEvent claimed = claim_one();
  EXPECT_EQ(deliver(claimed).settled, 1);
  const auto delivered_at = event(id).delivered_at;
  const SettleReport again = settle(claimed, Outcome::failed(terminal_failure()));
  EXPECT_EQ(again.settled, 0);
  EXPECT_THAT(again.fenced, ElementsAre(id));
  EXPECT_EQ(event(id).status, Status::delivered);
  EXPECT_EQ(event(id).delivered_at, delivered_at);
}

TEST_P(SettleContract, AnOldClaimIsFencedAfterExpiryAndReclaim) {
  const Uuid id = publish();
  const ClaimedEvent stale = claim_one();
  age(301s);
  const auto expired = must(store().expired_claims(10));
  ASSERT_EQ(expired.size(), 1U);
  SettleItem reaped;
  reaped.claim = expired[0].claim;
  reaped.settlement = sluice::settle(expired[0].attempts, Outcome::expired(), minute_retries(), 0.5);
  EXPECT_EQ(must(store().settle(std::vector{reaped})).settled, 1);
  age(61s);
  const ClaimedEvent current = claim_one();
  EXPECT_THAT(deliver(stale).fenced, ElementsAre(id));
  EXPECT_EQ(event(id).status, Status::in_flight);
  EXPECT_EQ(event(id).claim_seq, current.claim.claim_seq);
  EXPECT_EQ(deliver(current).settled, 1);
}

TEST_P(SettleContract, AReplayDoesNotMakeAStaleClaimValidAgain) {
  const Uuid id = publish();
  const ClaimedEvent stale = claim_one();
  age(301s);
  SettleItem reaped;
  reaped.claim = must(store().expired_claims(10)).at(0).claim;
  reaped.settlement = sluice::settle(0, Outcome::expired(), minute_retries(1), 0.5);
  must(store().settle(std::vector{reaped}));
  ASSERT_EQ(event(id).status, Status::failed);
  must(store().replay(id, 1, operator_alice()));
  const ClaimedEvent current = claim_one();
  // The same event, in the same state, in flight again: only the token tells the two claims apart.
  EXPECT_NE(current.claim.claim_seq, stale.claim.claim_seq);
  EXPECT_THAT(settle(stale, Outcome::failed(terminal_failure())).fenced, ElementsAre(id));
  EXPECT_EQ(event(id).status, Status::in_flight);
  EXPECT_EQ(event(id).last_error, std::nullopt);
}

TEST_P(SettleContract, AFencedItemDoesNotStopTheOthers) {
  const auto published = publish(events(2));
  const auto claimed = claim();
  deliver(claimed[0]);
  const std::vector items{settle_item(claimed[0], Outcome::handled()), settle_item(claimed[1], Outcome::handled())};
  const SettleReport report = must(store().settle(items));
  EXPECT_EQ(report.settled, 1);
  EXPECT_THAT(report.fenced, ElementsAre(published[0]));
  EXPECT_EQ(event(published[1]).status, Status::delivered);
}

TEST_P(SettleContract, WithoutTheLocatorHint) {
  const Uuid id = publish();
  ClaimedEvent claimed = claim_one();
  claimed.claim.locator = 0;
  EXPECT_EQ(deliver(claimed).settled, 1);
  EXPECT_EQ(event(id).status, Status::delivered);
}

TEST_P(SettleContract, WithOnlyIdAndToken) {
  const Uuid id = publish();
  const ClaimedEvent claimed = claim_one();
  SettleItem item;
  item.claim = {id, claimed.claim.claim_seq, 0, 0};
  item.settlement = sluice::settle(0, Outcome::failed(timeout_failure()), minute_retries(), 0.5);
  EXPECT_EQ(must(store().settle(std::vector{item})).settled, 1);
  EXPECT_EQ(event(id).status, Status::pending);
}

TEST_P(SettleContract, OnlyTheTokenTellsAStaleClaimFromTheCurrentOne) {
  const Uuid id = publish();
  ClaimedEvent stale = claim_one();
  settle(stale, Outcome::released());
  const ClaimedEvent current = claim_one();
  // Neither a place nor a batch that the store could know it by.
  stale.claim = {id, stale.claim.claim_seq, 0, 0};
  EXPECT_THAT(deliver(stale).fenced, ElementsAre(id));
  EXPECT_THAT(settle(stale, Outcome::failed(terminal_failure())).fenced, ElementsAre(id));
  EXPECT_THAT(settle(stale, Outcome::released()).fenced, ElementsAre(id));
  EXPECT_EQ(event(id).status, Status::in_flight);
  EXPECT_EQ(deliver(current).settled, 1);
}

TEST_P(SettleContract, ATokenFromTheFutureIsFenced) {
  const Uuid id = publish();
  ClaimedEvent claimed = claim_one();
  ++claimed.claim.claim_seq;
  EXPECT_THAT(deliver(claimed).fenced, ElementsAre(id));
  EXPECT_EQ(event(id).status, Status::in_flight);
}

TEST_P(SettleContract, AnEventThatIsGoneIsFenced) {
  publish();
  ClaimedEvent claimed = claim_one();
  claimed.claim.event_id = new_id();
  claimed.claim.locator = 0;
  EXPECT_THAT(deliver(claimed).fenced, ElementsAre(claimed.claim.event_id));
}

TEST_P(SettleContract, ErrorsKeepTheirText) {
  const Uuid id = publish();
  const std::string odd = "it's a \"quoted\" \\ error; drop table — ошибка 🔥";
  settle(claim_one(), Outcome::failed({"OddError", odd, {}, true}));
  EXPECT_EQ(event(id).last_error, "OddError: " + odd);
}

}  // namespace
}  // namespace sluice::contract
