// What an operator does to an event that waits: run now, reschedule, cancel.
#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ChangeContract : public StoreContract {
 protected:
  /// Pending, due in an hour.
  Uuid scheduled_event() {
    NewEvent later = an_event();
    later.not_before = must(store().now()) + 1h;
    return publish(later);
  }
};
SLUICE_OVER_EVERY_STORE(ChangeContract);

TEST_P(ChangeContract, AScheduledEventRunsNow) {
  const Uuid id = scheduled_event();
  EXPECT_THAT(claim(), IsEmpty());
  must(store().schedule(id, {}, operator_alice()));
  EXPECT_THAT(ids(claim()), ElementsAre(id));
  EXPECT_EQ(last_action(id), "run_now");
}

TEST_P(ChangeContract, ARetryRunsNowAndKeepsItsAttempts) {
  const Uuid id = publish();
  settle(claim_one(), Outcome::failed(timeout_failure()), minute_retries());
  must(store().schedule(id, {}, operator_alice()));
  const ClaimedEvent again = claim_one();
  EXPECT_EQ(again.attempts, 1);
}

TEST_P(ChangeContract, EachHandlerThatWaitsRunsNow) {
  const Uuid id = publish();
  SettleItem item = settle_item(claim_one(), Outcome::released());
  HandlerProgress tired;
  tired.handler_name = "billing.meter";
  tired.due = must(store().now()) + 1h;
  HandlerProgress out = tired;
  out.handler_name = "worlds.indexer";
  out.attempts = 5;
  out.out_of_attempts = true;
  item.settlement.progress = {tired, out};
  item.settlement.not_before = tired.due;
  must(store().settle(std::vector{item}));
  must(store().schedule(id, {}, operator_alice()));
  ClaimRequest request = request_for("w1");
  request.handlers = {"billing.meter"};
  const auto claimed = claim(request);
  ASSERT_THAT(ids(claimed), ElementsAre(id));
  EXPECT_LE(claimed[0].progress.at(0).due, must(store().now()));
  EXPECT_EQ(claimed[0].progress.at(1), out);
}

TEST_P(ChangeContract, AnEventIsRescheduled) {
  const Uuid id = publish();
  const Timestamp at = must(store().now()) + 2h;
  must(store().schedule(id, at, operator_alice()));
  EXPECT_EQ(event(id).retry_after, at);
  EXPECT_THAT(claim(), IsEmpty());
  EXPECT_EQ(last_action(id), "reschedule");
  age(2h + 1s);
  EXPECT_THAT(ids(claim()), ElementsAre(id));
}

TEST_P(ChangeContract, NotIntoThePast) {
  const Uuid id = scheduled_event();
  const auto answer = store().schedule(id, must(store().now()) - 1s, operator_alice());
  refused(answer, ErrorCode::invalid, "run the event now instead");
  EXPECT_EQ(answer.error().field, "at");
}

TEST_P(ChangeContract, OnlyAPendingEventIsScheduledOrCancelled) {
  const auto refuses = [&](const Uuid& id, const std::string& says) {
    refused(store().schedule(id, {}, operator_alice()), ErrorCode::conflict, says);
    refused(store().schedule(id, must(store().now()) + 1h, operator_alice()), ErrorCode::conflict, says);
    refused(store().cancel(id, operator_alice()), ErrorCode::conflict, says);
    EXPECT_THAT(must(store().audit_of(id)), IsEmpty());
  };
  const Uuid id = publish();
  const ClaimedEvent claimed = claim_one();
  refuses(id, "is in_flight: worker w1 has it");
  deliver(claimed);
  refuses(id, "delivered");
  refuses(failed_event(), "failed");
}

TEST_P(ChangeContract, EveryChangeNeedsAReasonAndAnEvent) {
  const Actor silent{"alice", "cli", ""};
  const Uuid id = publish();
  for (const auto& answer : {store().schedule(id, {}, silent), store().cancel(id, silent)}) {
    refused(answer, ErrorCode::invalid, "reason");
    EXPECT_EQ(answer.error().field, "reason");
  }
  refused(store().send_to({id, "a.b", Status::delivered, 1}, silent), ErrorCode::invalid, "reason");
  refused(store().replay_edited({id, "{}", 1, 1000}, silent), ErrorCode::invalid, "reason");
  const Uuid nobody = new_id();
  EXPECT_EQ(store().schedule(nobody, {}, operator_alice()).error().code, ErrorCode::not_found);
  EXPECT_EQ(store().cancel(nobody, operator_alice()).error().code, ErrorCode::not_found);
  EXPECT_EQ(store().send_to({nobody, "a.b", Status::failed, 1}, operator_alice()).error().code, ErrorCode::not_found);
  EXPECT_EQ(store().replay_edited({nobody, "{}", 1, 1000}, operator_alice()).error().code, ErrorCode::not_found);
}

TEST_P(ChangeContract, ACancelledEventIsNeverClaimed) {
  const Uuid id = publish();
  const Uuid later = scheduled_event();
  must(store().cancel(id, operator_alice()));
  must(store().cancel(later, operator_alice()));
  age(2h);
  EXPECT_THAT(claim(), IsEmpty());
  EXPECT_EQ(event(id).status, Status::pending);
  EXPECT_TRUE(event(id).deleted_at);
  EXPECT_THAT(must(store().list_events({.status = Status::pending}, 10, {})).events, IsEmpty());
  EXPECT_EQ(must(store().status()).discarded, 2);
  EXPECT_EQ(last_action(id), "cancel");
  refused(store().cancel(id, operator_alice()), ErrorCode::conflict, "already cancelled");
  refused(store().schedule(id, {}, operator_alice()), ErrorCode::conflict, "restore it first");
}

TEST_P(ChangeContract, WhatIsNotPendingAnyMoreIsNotCounted) {
  const Uuid id = publish();
  must(store().cancel(id, operator_alice()));
  for (const auto& count : must(store().status()).counts) EXPECT_EQ(count.count, 0) << name(count.status);
  EXPECT_EQ(must(store().due_backlog()).count, 0);
  EXPECT_EQ(must(store().reroute(1, 2, 10, operator_alice())), 0);
  EXPECT_THAT(must(store().unsubscribed()), IsEmpty());
}

TEST_P(ChangeContract, ARestoredEventIsDueAsBefore) {
  const Uuid id = publish();
  const Uuid later = scheduled_event();
  const auto due = event(later).retry_after;
  must(store().cancel(id, operator_alice()));
  must(store().cancel(later, operator_alice()));
  must(store().restore(id, operator_alice()));
  must(store().restore(later, operator_alice()));
  EXPECT_EQ(event(later).retry_after, due);
  EXPECT_EQ(event(id).deleted_at, std::nullopt);
  EXPECT_THAT(ids(claim()), ElementsAre(id));
  age(1h + 1s);
  EXPECT_THAT(ids(claim()), ElementsAre(later));
  refused(store().restore(publish(), operator_alice()), ErrorCode::conflict, "is not cancelled");
}

TEST_P(ChangeContract, ACancelledEventLetsItsKeyGoOn) {
  must(store().subscribe(1, std::vector{subscription("a.handler")}));
  const auto events = std::vector{a_keyed_event("k"), a_keyed_event("k"), a_keyed_event("k")};
  const auto all = publish(events);
  const ClaimedEvent first = claim_one();
  settle(first, Outcome::failed(timeout_failure()), minute_retries());
  EXPECT_THAT(claim(), IsEmpty());
  refused(store().schedule(all[1], {}, operator_alice()), ErrorCode::conflict, "goes first");
  must(store().cancel(all[0], operator_alice()));
  EXPECT_THAT(ids(claim()), ElementsAre(all[1]));
}

TEST_P(ChangeContract, ARestoredEventGoesFirstAgain) {
  must(store().subscribe(1, std::vector{subscription("a.handler")}));
  const auto all = publish(std::vector{a_keyed_event("k"), a_keyed_event("k")});
  must(store().cancel(all[0], operator_alice()));
  must(store().restore(all[0], operator_alice()));
  EXPECT_THAT(ids(claim()), ElementsAre(all[0]));
}

// The only handler that it still waited for is gone.
TEST_P(ChangeContract, ARestoredEventWaitsForNobodyWhoWithdrew) {
  for (const bool keyed : {false, true}) {
    SCOPED_TRACE(keyed);
    must(store().subscribe(1, std::vector{subscription("a.handler"), subscription("b.handler")}));
    const auto all = keyed ? publish(std::vector{a_keyed_event("k"), a_keyed_event("k")}) : std::vector{publish()};
    SettleItem item = settle_item(claim_one(), Outcome::released());
    HandlerProgress retried;
    retried.handler_name = "a.handler";
    retried.attempts = 1;
    retried.due = must(store().now());
    item.settlement.progress = {retried};
    item.settlement.not_before = retried.due;
    item.settlement.lane = "a";
    item.handled_by = {"b.handler"};
    must(store().settle(std::vector{item}));
    must(store().cancel(all[0], operator_alice()));
    must(store().unsubscribe(1, "a.handler", operator_alice()));
    must(store().restore(all[0], operator_alice()));
    EXPECT_THAT(event(all[0]).progress, IsEmpty());
    ClaimRequest request = request_for("w1");
    request.handlers = {"b.handler"};
    const auto claimed = claim(request);
    ASSERT_THAT(ids(claimed), ElementsAre(all[0]));
    deliver(claimed[0]);
    if (keyed) deliver(claim_one());
  }
}

// In its own generation nobody would claim it, and what follows in its key would wait for it in every other.
TEST_P(ChangeContract, ARestoredEventLeavesARetiredGeneration) {
  must(store().subscribe(1, std::vector{subscription("a.handler")}));
  must(store().subscribe(2, std::vector{subscription("a.handler")}));
  const Uuid first = publish(a_keyed_event("k"));
  must(store().cancel(first, operator_alice()));
  replace_first_generation();
  NewEvent second = a_keyed_event("k");
  second.generation = 2;
  second.channel = "outbox_gen_2";
  publish(second);
  must(store().restore(first, operator_alice()));
  EXPECT_EQ(event(first).channel, "outbox_gen_2");
  EXPECT_THAT(must(store().audit_of(first)).back().detail, HasSubstr("to_generation"));
  ClaimRequest request = request_for("w1");
  request.generation = 2;
  const auto claimed = claim(request);
  ASSERT_THAT(ids(claimed), ElementsAre(first));
  deliver(claimed[0]);
  EXPECT_THAT(ids(claim(request)), ElementsAre(second.envelope.event_id()));
}

TEST_P(ChangeContract, NothingIsRestoredWhereNoGenerationIsLive) {
  const Uuid dead = failed_event();
  const Uuid id = publish();
  must(store().cancel(id, operator_alice()));
  must(store().discard(dead, operator_alice()));
  replace_first_generation();
  must(store().move_generation(2, GenerationState::draining, operator_alice()));
  refused(store().restore(id, operator_alice()), ErrorCode::conflict, "generation 1 is retired");
  EXPECT_TRUE(event(id).deleted_at);
  must(store().restore(dead, operator_alice()));
}

TEST_P(ChangeContract, RetentionRemovesACancelledEvent) {
  const Uuid id = publish();
  must(store().cancel(id, operator_alice()));
  age(8 * 24h);
  const auto swept = must(store().sweep_retention({}, 100, false, operator_alice()));
  EXPECT_EQ(swept.outbox_deleted, 1);
  EXPECT_EQ(store().get_event(id).error().code, ErrorCode::not_found);
}

TEST_P(ChangeContract, PlainSqlCannotCancel) {
  const Uuid id = publish();
  if (GetParam() != "sqlite") {
    EXPECT_FALSE(harness().raw_sql("update {outbox} set deleted_at = {now}"));
    EXPECT_EQ(event(id).deleted_at, std::nullopt);
  }
  must(store().cancel(id, operator_alice()));
  EXPECT_FALSE(harness().raw_sql("update {outbox} set deleted_at = null, retry_after = null"));
}

}  // namespace
}  // namespace sluice::contract
