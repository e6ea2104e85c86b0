#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

SLUICE_CONTRACT(ClockContract);

TEST_P(ClockContract, TimeDoesNotRunBackwards) {
  Timestamp last = must(store().now());
  for (int n = 0; n < 100; ++n) {
    const Timestamp next = must(store().now());
    EXPECT_GE(next, last);
    last = next;
  }
}

TEST_P(ClockContract, EveryStoreOnTheSameDataHasTheSameClock) {
  const auto other = second_store();
  const Timestamp before = must(store().now());
  const Timestamp between = must(other->now());
  const Timestamp after = must(store().now());
  EXPECT_LE(before, between);
  EXPECT_LE(between, after);
}

TEST_P(ClockContract, PublishedAtIsTheStoresTimeAndOccurredAtThePublishers) {
  EnvelopeDraft draft = a_draft();
  draft.occurred_at = must(parse_iso8601("1999-12-31T23:59:59.999999Z"));
  const Timestamp before = must(store().now());
  const EventRecord stored = event(publish(an_event(draft)));
  const Timestamp after = must(store().now());
  EXPECT_EQ(stored.envelope.occurred_at(), draft.occurred_at);
  EXPECT_GE(stored.published_at, before);
  EXPECT_LE(stored.published_at, after);
}

TEST_P(ClockContract, ADelayCountsFromTheStoresNow) {
  NewEvent delayed = an_event();
  delayed.delay = 90s;
  const Timestamp before = must(store().now());
  const Uuid id = publish(delayed);
  const Timestamp after = must(store().now());
  ASSERT_TRUE(event(id).retry_after);
  EXPECT_GE(*event(id).retry_after, before + 90s);
  EXPECT_LE(*event(id).retry_after, after + 90s);
}

TEST_P(ClockContract, MicrosecondsSurvive) {
  NewEvent delayed = an_event();
  delayed.not_before = must(parse_iso8601("2099-01-02T03:04:05.678901Z"));
  EXPECT_EQ(event(publish(delayed)).retry_after, delayed.not_before);
}

TEST_P(ClockContract, TheTimesOfOneLifeAreInOrder) {
  const Uuid id = delivered_event();
  const EventRecord after = event(id);
  ASSERT_TRUE(after.claimed_at);
  ASSERT_TRUE(after.delivered_at);
  EXPECT_LE(after.published_at, *after.claimed_at);
  EXPECT_LE(*after.claimed_at, *after.delivered_at);
}

}  // namespace
}  // namespace sluice::contract
