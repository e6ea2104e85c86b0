#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::GenerationGauges;
using testing::IsEmpty;
using testing::SizeIs;

class GaugeContract : public StoreContract {
 protected:
  /// The only generation that has anything; all zero when there is none.
  GenerationGauges gauges() {
    const auto seen = must(store().gauges());
    EXPECT_LE(seen.generations.size(), 1U);
    return seen.generations.empty() ? GenerationGauges{} : seen.generations.front();
  }
};
SLUICE_OVER_EVERY_STORE(GaugeContract);

TEST_P(GaugeContract, AnEmptyStoreHasNothing) {
  const auto seen = must(store().gauges());
  EXPECT_THAT(seen.generations, IsEmpty());
  EXPECT_EQ(seen.newest, 0);
  EXPECT_FALSE(seen.dead_capped);
}

TEST_P(GaugeContract, AnEventIsCountedWhereItIs) {
  const Uuid id = publish();
  EXPECT_EQ(gauges().due, 1);
  EXPECT_EQ(gauges().oldest_due, event(id).published_at);
  const auto claimed = claim_one();
  EXPECT_EQ(gauges().due, 0);
  EXPECT_EQ(gauges().in_flight, 1);
  settle(claimed, Outcome::failed(timeout_failure()), minute_retries());
  EXPECT_EQ(gauges().in_flight, 0);
  EXPECT_EQ(gauges().due, 0);
  EXPECT_EQ(gauges().waiting, 1);
  age(2min);
  EXPECT_EQ(gauges().waiting, 0);
  EXPECT_EQ(gauges().due, 1);
  EXPECT_EQ(gauges().oldest_due, event(id).retry_after);
  settle(claim_one(), Outcome::failed(terminal_failure()));
  EXPECT_EQ(gauges().due, 0);
  EXPECT_EQ(gauges().dead, 1);
  must(store().replay(id, 1, operator_alice()));
  EXPECT_EQ(gauges().dead, 0);
  EXPECT_EQ(gauges().due, 1);
  deliver(claim_one());
  EXPECT_EQ(gauges().due + gauges().in_flight + gauges().waiting + gauges().dead, 0);
}

TEST_P(GaugeContract, WhatIsDiscardedIsNotDead) {
  const Uuid id = failed_event();
  EXPECT_EQ(gauges().dead, 1);
  must(store().discard(id, operator_alice()));
  EXPECT_EQ(gauges().dead, 0);
}

TEST_P(GaugeContract, ADelayedEventWaits) {
  NewEvent delayed = an_event();
  delayed.delay = 1h;
  publish(delayed);
  EXPECT_EQ(gauges().due, 0);
  EXPECT_EQ(gauges().waiting, 1);
}

TEST_P(GaugeContract, EventsBehindAnEarlierOneOfTheirKeyAreDueToo) {
  publish(std::vector{a_keyed_event("k"), a_keyed_event("k")});
  EXPECT_EQ(gauges().due, 2);
  deliver(claim_one());
  EXPECT_EQ(gauges().due, 1);
}

TEST_P(GaugeContract, GenerationsAreToldApart) {
  std::vector<NewEvent> three = events(3);
  three[1].generation = three[2].generation = 7;
  publish(three);
  const auto seen = must(store().gauges());
  ASSERT_THAT(seen.generations, SizeIs(2));
  EXPECT_EQ(seen.generations[0].generation, 1);
  EXPECT_EQ(seen.generations[0].due, 1);
  EXPECT_EQ(seen.generations[1].generation, 7);
  EXPECT_EQ(seen.generations[1].due, 2);
}

TEST_P(GaugeContract, WhatNobodyTakesIsStillCountedAmongManyThatAreDone) {
  NewEvent unwanted = an_event("nobody.wants_it");
  publish(unwanted);
  ClaimRequest request = request_for("w1", 100);
  request.interests = {{"test.*", std::nullopt, std::nullopt}};
  for (int round = 0; round < 4; ++round) {
    publish(events(5));
    for (const ClaimedEvent& claimed : claim(request)) deliver(claimed);
    EXPECT_EQ(gauges().due, 1) << round;
  }
  // Another process begins from nothing and finds it as well.
  const auto other = second_store();
  EXPECT_EQ(must(other->gauges()).generations.front().due, 1);
}

TEST_P(GaugeContract, AnEventThatIsCommittedLateIsFound) {
  auto unfinished = must(harness().begin_unfinished_publish(new_id()));
  if (store().capabilities().embedded) {
    // Writers of one file follow each other: nobody gets a later number meanwhile.
    EXPECT_EQ(gauges().due, 0);
    must(unfinished->commit());
    EXPECT_EQ(gauges().due, 1);
    return;
  }
  delivered_event();
  for (int round = 0; round < 3; ++round) EXPECT_EQ(gauges().due, 0);
  must(unfinished->commit());
  EXPECT_EQ(gauges().due, 1);
  EXPECT_EQ(gauges().due, 1);
}

TEST_P(GaugeContract, TheNewestNumberGrowsWithEachEvent) {
  publish(events(3));
  const auto before = must(store().gauges());
  EXPECT_EQ(before.newest - before.oldest + 1, 3);
  publish(events(4));
  const auto after = must(store().gauges());
  EXPECT_EQ(after.newest - before.newest, 4);
  EXPECT_EQ(after.oldest, before.oldest);
}

TEST_P(GaugeContract, MoreThanItCountsIsAnEstimate) {
  publish(events(1));
  const int many = static_cast<int>(store::kGaugeLook) + 500;
  publish(events(many));
  EXPECT_EQ(gauges().due, many + 1);
}

TEST_P(GaugeContract, AGlanceSeesWhatADiagnosisSeesButDoesNotCheckEverything) {
  failed_event();
  const auto seen = must(store().diagnose(store::DiagnosisDepth::glance));
  EXPECT_TRUE(seen.expired);
  EXPECT_TRUE(seen.retention);
  EXPECT_EQ(seen.file.has_value(), store().capabilities().embedded);
  EXPECT_EQ(seen.server.has_value(), !store().capabilities().embedded);
  if (seen.server) {
    EXPECT_FALSE(seen.server->grants);
    EXPECT_TRUE(seen.server->notify);
    EXPECT_TRUE(seen.server->outbox);
  }
  if (seen.file) {
    EXPECT_GT(seen.file->bytes, 0);
    EXPECT_EQ(seen.file->journal_mode, "wal");
  }
}

}  // namespace
}  // namespace sluice::contract
