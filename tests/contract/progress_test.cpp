#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

class ProgressContract : public StoreContract {
 protected:
  HandlerProgress waiting(const std::string& handler, Duration in = 0s) {
    HandlerProgress one;
    one.handler_name = handler;
    one.due = must(store().now()) + in;
    return one;
  }

  /// Publishes an event, claims it and gives it back with this progress, due now.
  Uuid partly_handled(std::vector<HandlerProgress> progress, const std::string& lane = {}) {
    const Uuid id = publish();
    SettleItem item = settle_item(claim_one(), Outcome::released());
    item.settlement.progress = std::move(progress);
    item.settlement.lane = lane;
    EXPECT_EQ(must(store().settle(std::vector{item})).settled, 1);
    return id;
  }

  std::vector<ClaimedEvent> claim_with(std::vector<std::string> handlers) {
    ClaimRequest request = request_for("w1");
    request.handlers = std::move(handlers);
    return claim(request);
  }
};
SLUICE_OVER_EVERY_STORE(ProgressContract);

TEST_P(ProgressContract, ItIsKeptAndComesWithTheClaim) {
  HandlerProgress tired = waiting("billing.meter");
  tired.attempts = 5;
  tired.out_of_attempts = true;
  tired.last_error = "TimeoutError: no \"answer\" — 5 s";
  tired.error_class = "TimeoutError";
  tired.fingerprint = "abc";
  HandlerProgress retrying = waiting("worlds.indexer");
  retrying.attempts = 2;
  const std::vector<HandlerProgress> progress{tired, retrying};
  const Uuid id = partly_handled(progress);
  EXPECT_THAT(event(id).progress, ElementsAreArray(progress));
  EXPECT_THAT(must(store().list_events({}, 10, {})).events.at(0).progress, ElementsAreArray(progress));
  EXPECT_THAT(claim_one().progress, ElementsAreArray(progress));
}

TEST_P(ProgressContract, OnlyAWorkerThatHostsAWaitingHandlerTakesIt) {
  const Uuid id = partly_handled({waiting("worlds.indexer"), waiting("billing.meter")});
  EXPECT_THAT(claim_with({"memory.reader"}), IsEmpty());
  EXPECT_THAT(claim_with({"worlds.other", "memory.reader"}), IsEmpty());
  EXPECT_THAT(ids(claim_with({"memory.reader", "billing.meter"})), ElementsAre(id));
}

TEST_P(ProgressContract, AWorkerThatNamesNoHandlersTakesIt) {
  const Uuid id = partly_handled({waiting("worlds.indexer")});
  EXPECT_THAT(ids(claim_with({})), ElementsAre(id));
}

TEST_P(ProgressContract, OnlyWhenOneOfItsHandlersIsDue) {
  const Uuid id = partly_handled({waiting("worlds.indexer", 1h), waiting("billing.meter")});
  EXPECT_THAT(claim_with({"worlds.indexer"}), IsEmpty());
  age(1h + 1s);
  EXPECT_THAT(ids(claim_with({"worlds.indexer"})), ElementsAre(id));
}

TEST_P(ProgressContract, NobodyTakesItForAnExhaustedHandler) {
  HandlerProgress tired = waiting("billing.meter");
  tired.out_of_attempts = true;
  const Uuid id = partly_handled({tired, waiting("worlds.indexer")});
  EXPECT_THAT(claim_with({"billing.meter"}), IsEmpty());
  EXPECT_THAT(ids(claim_with({"worlds.indexer"})), ElementsAre(id));
}

TEST_P(ProgressContract, WhatWaitsForOthersDoesNotUseUpTheLimit) {
  const auto published = publish(events(6));
  std::vector<SettleItem> items;
  for (const ClaimedEvent& claimed : claim()) {
    const bool last = claimed.envelope.event_id() == published.back();
    items.push_back(settle_item(claimed, Outcome::released()));
    items.back().settlement.progress = {waiting(last ? "worlds.indexer" : "billing.meter")};
  }
  must(store().settle(items));
  ClaimRequest request = request_for("w1", 2);
  request.handlers = {"worlds.indexer"};
  EXPECT_THAT(ids(claim(request)), ElementsAre(published.back()));
}

TEST_P(ProgressContract, ALaneIsForTheWorkersOfItsScope) {
  must(store().subscribe(1, std::vector{subscription("worlds.indexer"), subscription("billing.meter")}));
  const Uuid id = partly_handled({waiting("worlds.indexer")}, "worlds");
  EXPECT_THAT(claim_with({"billing.meter"}), IsEmpty());
  EXPECT_THAT(ids(claim_with({"worlds.indexer", "billing.meter"})), ElementsAre(id));
}

TEST_P(ProgressContract, AWorkerThatNamesNoHandlersTakesEveryLane) {
  must(store().subscribe(1, std::vector{subscription("worlds.indexer")}));
  const Uuid id = partly_handled({waiting("worlds.indexer")}, "worlds");
  EXPECT_THAT(ids(claim_with({})), ElementsAre(id));
}

TEST_P(ProgressContract, AfterAnUnsubscribeNobodyWaitsForThatHandler) {
  must(store().subscribe(1, std::vector{subscription("worlds.indexer"), subscription("billing.meter")}));
  const Uuid id = partly_handled({waiting("worlds.indexer")}, "worlds");
  must(store().unsubscribe(1, "worlds.indexer", operator_alice()));
  EXPECT_THAT(event(id).progress, IsEmpty());
  EXPECT_THAT(ids(claim_with({"billing.meter"})), ElementsAre(id)) << "any worker may find that all have handled it";
}

TEST_P(ProgressContract, AfterAnUnsubscribeTheOthersAreStillWaitedFor) {
  must(store().subscribe(1, std::vector{subscription("worlds.indexer"), subscription("billing.meter")}));
  const HandlerProgress other = waiting("billing.meter");
  const Uuid id = partly_handled({waiting("worlds.indexer"), other});
  must(store().unsubscribe(1, "worlds.indexer", operator_alice()));
  EXPECT_THAT(event(id).progress, ElementsAre(other));
  EXPECT_THAT(claim_with({"memory.reader"}), IsEmpty());
  EXPECT_THAT(ids(claim_with({"billing.meter"})), ElementsAre(id));
}

TEST_P(ProgressContract, AHandlerThatDoesNotWantItAnyMoreIsNotWaitedFor) {
  must(store().subscribe(1, std::vector{subscription("worlds.indexer"), subscription("billing.meter")}));
  const Uuid id = partly_handled({waiting("worlds.indexer")}, "worlds");
  must(store().subscribe(1, std::vector{subscription("worlds.indexer", {"test.*"})}));
  EXPECT_EQ(event(id).progress.size(), 1U) << "it still wants this one";
  must(store().subscribe(1, std::vector{subscription("worlds.indexer", {"other.*"})}));
  EXPECT_THAT(event(id).progress, IsEmpty());
  EXPECT_THAT(ids(claim_with({"billing.meter"})), ElementsAre(id));
}

TEST_P(ProgressContract, WhenOnlyExhaustedHandlersAreLeftAnyWorkerMayFailIt) {
  must(store().subscribe(1, std::vector{subscription("worlds.indexer"), subscription("billing.meter")}));
  HandlerProgress tired = waiting("billing.meter");
  tired.out_of_attempts = true;
  const Uuid id = partly_handled({tired, waiting("worlds.indexer")});
  must(store().unsubscribe(1, "worlds.indexer", operator_alice()));
  EXPECT_THAT(event(id).progress, ElementsAre(tired));
  EXPECT_THAT(ids(claim_with({"memory.reader"})), ElementsAre(id));
}

TEST_P(ProgressContract, TheNextDueTimeIsThatOfTheOwnLanes) {
  must(store().subscribe(1, std::vector{subscription("worlds.indexer"), subscription("billing.meter")}));
  const Uuid id = publish();
  SettleItem item = settle_item(claim_one(), Outcome::failed(timeout_failure()), minute_retries());
  item.settlement.progress = {waiting("worlds.indexer", 1min)};
  item.settlement.lane = "worlds";
  must(store().settle(std::vector{item}));
  EXPECT_EQ(must(store().next_due(1, {"billing.meter"})), std::nullopt);
  EXPECT_EQ(must(store().next_due(1, {"billing.meter", "worlds.indexer"})), event(id).retry_after);
  EXPECT_EQ(must(store().next_due(1, {})), event(id).retry_after);
}

TEST_P(ProgressContract, CountingAndRecordingAreTwoThings) {
  const Uuid id = publish();
  SettleItem item = settle_item(claim_one(), Outcome::released());
  item.settlement.records_error = true;
  item.settlement.last_error = "TimeoutError: slow";
  item.settlement.error_class = "TimeoutError";
  item.settlement.fingerprint = "abc";
  must(store().settle(std::vector{item}));
  EXPECT_EQ(event(id).attempts, 0);
  EXPECT_EQ(event(id).last_error, "TimeoutError: slow");
  EXPECT_TRUE(event(id).first_failed_at);

  item = settle_item(claim_one(), Outcome::released());
  item.settlement.counts_attempt = true;
  must(store().settle(std::vector{item}));
  EXPECT_EQ(event(id).attempts, 1);
  EXPECT_EQ(event(id).last_error, "TimeoutError: slow");
}

TEST_P(ProgressContract, ADeliveredEventWaitsForNobody) {
  const Uuid id = partly_handled({waiting("worlds.indexer")});
  deliver(claim_one());
  EXPECT_EQ(event(id).status, Status::delivered);
  EXPECT_THAT(event(id).progress, IsEmpty());
}

TEST_P(ProgressContract, AFailedEventTellsWhoIsExhaustedAndAReplayForgetsIt) {
  const Uuid id = publish();
  HandlerProgress tired = waiting("billing.meter");
  tired.out_of_attempts = true;
  SettleItem item = settle_item(claim_one(), Outcome::failed(terminal_failure()));
  item.settlement.progress = {tired};
  item.settlement.lane = "billing";
  must(store().settle(std::vector{item}));
  EXPECT_THAT(event(id).progress, ElementsAre(tired));

  must(store().replay(id, 1, operator_alice()));
  EXPECT_THAT(event(id).progress, IsEmpty());
  EXPECT_THAT(ids(claim_with({"worlds.indexer"})), ElementsAre(id)) << "the lane is gone as well";
}

}  // namespace
}  // namespace sluice::contract
