#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

SLUICE_CONTRACT(ScheduleContract);

TEST_P(ScheduleContract, ADelayedEventWaits) {
  NewEvent delayed = an_event();
  delayed.delay = 1h;
  const Uuid id = publish(delayed);
  EXPECT_THAT(claim(), IsEmpty());
  age(59min);
  EXPECT_THAT(claim(), IsEmpty());
  age(2min);
  EXPECT_THAT(ids(claim()), ElementsAre(id));
}

TEST_P(ScheduleContract, NotBeforeATime) {
  NewEvent delayed = an_event();
  delayed.not_before = must(store().now()) + 2h;
  const Uuid id = publish(delayed);
  EXPECT_EQ(event(id).retry_after, delayed.not_before);
  EXPECT_THAT(claim(), IsEmpty());
  age(2h + 1s);
  EXPECT_THAT(ids(claim()), ElementsAre(id));
}

TEST_P(ScheduleContract, ADelayBeatsATime) {
  NewEvent delayed = an_event();
  delayed.not_before = must(store().now()) + 10h;
  delayed.delay = 1h;
  const Uuid id = publish(delayed);
  age(2h);
  EXPECT_THAT(ids(claim()), ElementsAre(id));
}

TEST_P(ScheduleContract, ATimeThatHasPassedIsNow) {
  NewEvent delayed = an_event();
  delayed.not_before = must(store().now()) - 1h;
  const Uuid id = publish(delayed);
  EXPECT_THAT(ids(claim()), ElementsAre(id));
}

TEST_P(ScheduleContract, ADelayedEventDoesNotHoldUpOthers) {
  NewEvent delayed = an_event();
  delayed.delay = 1h;
  publish(delayed);
  const Uuid prompt = publish();
  EXPECT_THAT(ids(claim()), ElementsAre(prompt));
}

TEST_P(ScheduleContract, ARetryComesBackWhenItsDelayIsOver) {
  const Uuid id = publish();
  settle(claim_one(), Outcome::failed(timeout_failure()), minute_retries());
  EXPECT_THAT(claim(), IsEmpty());
  age(61s);
  const ClaimedEvent again = claim_one();
  EXPECT_EQ(again.envelope.event_id(), id);
  EXPECT_EQ(again.attempts, 1);
  EXPECT_EQ(again.claim.claim_seq, 2);
  EXPECT_EQ(event(id).retry_after, std::nullopt);
}

TEST_P(ScheduleContract, AHundredFreshEventsDoNotStarveARetry) {
  const Uuid id = publish();
  settle(claim_one(), Outcome::failed(timeout_failure()), minute_retries());
  publish(events(100));
  age(61s);
  bool found = false;
  for (int round = 0; round < 3 && !found; ++round) {
    for (const Uuid& claimed : ids(claim(40))) found = found || claimed == id;
  }
  EXPECT_TRUE(found);
}

TEST_P(ScheduleContract, NothingWaitsNothingIsDue) {
  EXPECT_EQ(must(store().next_due(1, {})), std::nullopt);
  publish();
  EXPECT_EQ(must(store().next_due(1, {})), std::nullopt);
}

TEST_P(ScheduleContract, TheNextDueTimeIsTheEarliest) {
  NewEvent later = an_event();
  later.not_before = must(store().now()) + 3h;
  NewEvent sooner = an_event();
  sooner.not_before = must(store().now()) + 1h;
  publish(std::vector{later, sooner});
  EXPECT_EQ(must(store().next_due(1, {})), sooner.not_before);
}

TEST_P(ScheduleContract, WhatHasBeenDueForLongerIsNotNext) {
  NewEvent overdue = an_event();
  overdue.delay = 1min;
  NewEvent later = an_event();
  later.delay = 2h;
  const auto published = publish(std::vector{overdue, later});
  age(1h);
  EXPECT_EQ(must(store().next_due(1, {})), event(published[1]).retry_after);
}

TEST_P(ScheduleContract, EachGenerationHasItsOwnNextDueTime) {
  NewEvent other = an_event();
  other.generation = 2;
  other.delay = 1h;
  publish(other);
  EXPECT_EQ(must(store().next_due(1, {})), std::nullopt);
  EXPECT_NE(must(store().next_due(2, {})), std::nullopt);
}

TEST_P(ScheduleContract, ARetryIsTheNextDueTime) {
  const Uuid id = publish();
  settle(claim_one(), Outcome::failed(timeout_failure()), minute_retries());
  EXPECT_EQ(must(store().next_due(1, {})), event(id).retry_after);
}

}  // namespace
}  // namespace sluice::contract
