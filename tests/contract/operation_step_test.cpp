// Carrying bulk operations out: the lease, the steps, and what became of the events.
#include "tests/contract/operation_contract.hpp"

namespace sluice::contract {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class OperationStepContract : public OperationFixture {};

SLUICE_OVER_EVERY_STORE(OperationStepContract);

TEST_P(OperationStepContract, RunnableOldestFirst) {
  failed_event();
  const Uuid later = plan().id;
  const Uuid first = started().id;
  EXPECT_THAT(must(store().runnable_operations("e1")), ElementsAre(first));
  must(store().start_operation(later, 1, {}, operator_alice()));
  EXPECT_THAT(must(store().runnable_operations("e1")), ElementsAre(first, later));
}

TEST_P(OperationStepContract, OneExecutorAtATime) {
  failed_event();
  const Uuid id = started().id;
  const auto other = second_store();
  EXPECT_THAT(must(other->runnable_operations("e2")), IsEmpty());
  expect_error(other->hold_operation(id, "e2", kLease), ErrorCode::conflict, "e1");
  expect_error(other->advance_operation(id, "e2", 1, must(store().now())), ErrorCode::conflict, id.to_string());
  EXPECT_EQ(hold(id).executor, "e1");  // renewed
  age(20s);
  expect_error(other->hold_operation(id, "e2", kLease), ErrorCode::conflict, "e1");
  age(11s);
  EXPECT_THAT(must(other->runnable_operations("e2")), ElementsAre(id));
  EXPECT_EQ(must(other->hold_operation(id, "e2", kLease)).executor, "e2");
  expect_error(store().hold_operation(id, "e1", kLease), ErrorCode::conflict, "e2");
  expect_error(store().advance_operation(id, "e1", 1, must(store().now())), ErrorCode::conflict, id.to_string());
  expect_error(store().end_operation(id, "e1", OperationState::finished, ""), ErrorCode::conflict, id.to_string());
}

TEST_P(OperationStepContract, ALeaseThatEndedMustBeTakenAgain) {
  failed_event();
  const Uuid id = started().id;
  age(kLease + 1s);
  expect_error(store().advance_operation(id, "e1", 1, must(store().now())), ErrorCode::conflict, "e1");
  hold(id);
  EXPECT_EQ(advance(id).progress.counts.taken, 1);
}

TEST_P(OperationStepContract, AReleasedOperationIsForAnybody) {
  failed_event();
  const Uuid id = started().id;
  must(store().release_operation(id, "e2"));  // not the holder: nothing happens
  expect_error(store().hold_operation(id, "e2", kLease), ErrorCode::conflict, "e1");
  must(store().release_operation(id, "e1"));
  EXPECT_EQ(must(store().operation(id)).executor, "e1");
  EXPECT_EQ(hold(id, "e2").executor, "e2");
}

TEST_P(OperationStepContract, DeadLettersAheadAreCountedByFilter) {
  const auto ids = failed_events(4);
  const OperationRecord operation = started();
  const auto ahead = [&](const EventFilter& filter, std::int64_t limit = 100) {
    return must(store().count_dead_ahead(operation.id, filter, limit));
  };
  EventFilter last;
  last.id = ids[3];
  EventFilter none;
  none.event_type = "nothing.*";
  EventFilter but_one;
  but_one.except = {ids[3]};
  EXPECT_EQ(ahead({}), 4);
  EXPECT_EQ(ahead({}, 3), 3);
  EXPECT_EQ(ahead(last), 1);
  EXPECT_EQ(ahead(last, 3), 0) << "it is behind the next three";
  EXPECT_EQ(ahead(none), 0);
  EXPECT_EQ(ahead(but_one), 3);
  advance(operation.id, 1);
  EXPECT_EQ(ahead({}), 3) << "what was taken is not ahead any more";
  EXPECT_EQ(ahead(last, 3), 1);
  must(store().discard(ids[3], operator_alice()));
  EXPECT_EQ(ahead({}), 2) << "it is no dead letter";
  EXPECT_EQ(must(store().count_dead_ahead(new_id(), {}, 100)), 0);
}

TEST_P(OperationStepContract, AReplayIsTheSameAsOfOneEvent) {
  const Uuid id = failed_event();
  PlanRequest request = plan_of(OperationKind::replay);
  request.to_generation = 2;
  const OperationRecord planned = must(store().plan_operation(request));
  must(try_start(planned));
  hold(planned.id);
  advance(planned.id);
  const EventRecord after = event(id);
  EXPECT_EQ(after.status, Status::pending);
  EXPECT_EQ(after.generation, 2);
  EXPECT_EQ(after.attempts, 0);
  EXPECT_EQ(after.last_error, std::nullopt);
  EXPECT_EQ(after.failed_at, std::nullopt);
  const auto entries = must(json::elements(after.failure_history, "failure_history"));
  ASSERT_THAT(entries, SizeIs(1));
  const auto entry = members_of(entries[0]);
  EXPECT_EQ(entry.at("cycle"), "1");
  EXPECT_EQ(entry.at("operation_id"), json::quote(planned.id.to_string()));
  EXPECT_EQ(entry.at("replayed_by"), R"("alice@example.com")");
  EXPECT_EQ(entry.at("reason"), R"("the upstream is back")");
  EXPECT_EQ(entry.at("to_generation"), "2");
  EXPECT_THAT(entry, SizeIs(13));
  ClaimRequest claims = request_for("w2");
  claims.generation = 2;
  EXPECT_THAT(ids(claim(claims)), ElementsAre(id));
}

TEST_P(OperationStepContract, InSteps) {
  const auto failed = failed_events(5);
  const Uuid id = started().id;
  const Timestamp paced_at = must(parse_iso8601("2026-01-02T03:04:05.678901Z"));
  OperationRecord after = must(store().advance_operation(id, "e1", 2, paced_at));
  EXPECT_EQ(after.progress.counts.taken, 2);
  EXPECT_EQ(after.progress.counts.in_flight(), 2);
  EXPECT_EQ(after.progress.counts.remaining(), 3);
  EXPECT_EQ(after.progress.paced_at, paced_at);
  EXPECT_EQ(event(failed[1]).status, Status::pending);
  EXPECT_EQ(event(failed[2]).status, Status::failed);
  EXPECT_THAT(item_states(id), ElementsAre("in_flight", "in_flight", "waiting", "waiting", "waiting"));
  after = advance(id, 100);
  EXPECT_EQ(after.progress.counts.taken, 5);
  EXPECT_EQ(after.progress.counts.remaining(), 0);
}

TEST_P(OperationStepContract, ARepeatedStepDoublesNothing) {
  const auto failed = failed_events(3);
  const Uuid id = started().id;
  advance(id);
  const OperationRecord again = advance(id);
  EXPECT_EQ(again.progress.counts.taken, 3);
  EXPECT_EQ(again.progress.counts.in_flight(), 3);
  EXPECT_EQ(again.progress.counts.skipped, 0);
  for (const Uuid& each : failed) {
    EXPECT_THAT(must(json::elements(event(each).failure_history, "failure_history")), SizeIs(1));
  }
  EXPECT_THAT(audited_actions(), ElementsAre("replay.bulk"));
}

TEST_P(OperationStepContract, OutcomesAreSeenWhenItIsHeld) {
  const auto failed = failed_events(3);
  const Uuid id = started().id;
  advance(id);
  const auto claimed = claim();
  ASSERT_THAT(claimed, SizeIs(3));
  EXPECT_EQ(hold(id).progress.counts.in_flight(), 3);
  for (const ClaimedEvent& each : claimed) {
    if (each.envelope.event_id() == failed[0]) deliver(each);
    if (each.envelope.event_id() == failed[1]) settle(each, Outcome::failed(terminal_failure()));
    if (each.envelope.event_id() == failed[2]) settle(each, Outcome::failed(timeout_failure()), minute_retries());
  }
  OperationRecord seen = hold(id);
  EXPECT_EQ(seen.progress.counts.delivered, 1);
  EXPECT_EQ(seen.progress.counts.failed_again, 1);
  EXPECT_EQ(seen.progress.counts.in_flight(), 1);
  EXPECT_THAT(item_states(id), ElementsAre("delivered", "failed_again", "in_flight"));
  EXPECT_EQ(hold(id).progress.counts, seen.progress.counts);  // counted once
  age(61s);
  deliver(claim_one());
  seen = hold(id);
  EXPECT_EQ(seen.progress.counts.delivered, 2);
  EXPECT_EQ(seen.progress.counts.in_flight(), 0);
  EXPECT_EQ(must(store().operation(id)).progress.counts, seen.progress.counts);
}

TEST_P(OperationStepContract, WhatFailedAndWasReplayedByHandHasFailedAgain) {
  const Uuid id = failed_event();
  const Uuid operation = started().id;
  advance(operation);
  fail_once(id);
  must(store().replay(id, 1, operator_alice()));
  EXPECT_EQ(hold(operation).progress.counts.failed_again, 1);
  EXPECT_THAT(item_states(operation), ElementsAre("failed_again"));
}

TEST_P(OperationStepContract, WhatWasDeliveredAndSentAgainIsDelivered) {
  must(store().subscribe(1, std::vector{subscription("a.handler")}));
  const Uuid id = failed_event();
  const Uuid operation = started().id;
  advance(operation);
  deliver(claim_one());
  must(store().send_to({id, "a.handler", Status::delivered, 1}, operator_alice()));
  EXPECT_EQ(hold(operation).progress.counts.delivered, 1);
  EXPECT_THAT(item_states(operation), ElementsAre("delivered"));
}

TEST_P(OperationStepContract, ACancelledEventIsSkipped) {
  const Uuid id = failed_event();
  const Uuid operation = started().id;
  advance(operation);
  must(store().cancel(id, operator_alice()));
  const OperationRecord seen = hold(operation);
  EXPECT_EQ(seen.progress.counts.skipped, 1);
  EXPECT_EQ(next_step(seen.progress, must(store().now())).what, OperationStep::What::finish);
}

TEST_P(OperationStepContract, AReplayIntoARetiredGenerationStops) {
  failed_events(2);
  const Uuid id = started().id;
  advance(id, 1);
  deliver(claim_one());
  replace_first_generation();
  expect_error(store().advance_operation(id, "e1", 1, must(store().now())), ErrorCode::conflict, "is retired");
  const OperationRecord stopped = hold(id);
  EXPECT_EQ(stopped.progress.state, OperationState::stopped);
  EXPECT_THAT(stopped.note, testing::HasSubstr("generation 1 is retired"));
  EXPECT_EQ(stopped.progress.counts.delivered, 1);
  EXPECT_TRUE(stopped.ended_at);
  EXPECT_THAT(must(store().runnable_operations("e1")), IsEmpty());
}

TEST_P(OperationStepContract, AnEventThatIsGoneIsSkipped) {
  const auto failed = failed_events(2);
  const Uuid id = started().id;
  advance(id, 1);
  for (const Uuid& each : failed) raw_sql("delete from {outbox} where id = '" + each.to_string() + "'");
  OperationRecord seen = hold(id);
  EXPECT_EQ(seen.progress.counts.skipped, 1);
  EXPECT_EQ(seen.progress.counts.in_flight(), 0);
  seen = advance(id);
  EXPECT_EQ(seen.progress.counts.skipped, 2);
  EXPECT_THAT(item_states(id), Each("skipped"));
}

TEST_P(OperationStepContract, WhatSomebodyReplayedMeanwhileIsPassedOver) {
  const auto failed = failed_events(4);
  const Uuid id = started().id;
  must(store().replay(failed[0], 1, operator_alice()));
  must(store().replay(failed[1], 1, operator_alice()));
  for (const ClaimedEvent& each : claim()) {
    if (each.envelope.event_id() == failed[1]) settle(each, Outcome::failed(terminal_failure()));
  }
  must(store().discard(failed[2], operator_alice()));
  const OperationRecord after = advance(id);
  EXPECT_EQ(after.progress.counts.taken, 4);
  EXPECT_EQ(after.progress.counts.skipped, 3);
  EXPECT_EQ(after.progress.counts.in_flight(), 1);
  EXPECT_THAT(item_states(id), ElementsAre("skipped", "skipped", "skipped", "in_flight"));
  EXPECT_EQ(event(failed[1]).status, Status::failed);
  EXPECT_TRUE(event(failed[2]).deleted_at);
}

TEST_P(OperationStepContract, TwoOperationsReplayAnEventOnce) {
  const Uuid id = failed_event();
  const Uuid first = plan().id;
  const Uuid second = plan().id;
  for (const Uuid& operation : {first, second}) {
    must(store().start_operation(operation, 1, {}, operator_alice()));
    hold(operation);
  }
  EXPECT_EQ(advance(first).progress.counts.in_flight(), 1);
  EXPECT_EQ(advance(second).progress.counts.skipped, 1);
  EXPECT_THAT(must(json::elements(event(id).failure_history, "failure_history")), SizeIs(1));
}

TEST_P(OperationStepContract, DiscardAndRestore) {
  const auto failed = failed_events(3);
  const Uuid discard = started(OperationKind::discard).id;
  OperationRecord after = advance(discard, 2);
  EXPECT_EQ(after.progress.counts.changed, 2);
  EXPECT_EQ(after.progress.counts.in_flight(), 0);
  EXPECT_THAT(item_states(discard), ElementsAre("changed", "changed", "waiting"));
  EXPECT_TRUE(event(failed[0]).deleted_at);
  EXPECT_EQ(event(failed[2]).deleted_at, std::nullopt);
  after = advance(discard);
  EXPECT_EQ(after.progress.counts.changed, 3);
  const Uuid restore = started(OperationKind::restore).id;
  EXPECT_EQ(advance(restore).progress.counts.changed, 3);
  for (const Uuid& each : failed) {
    EXPECT_EQ(event(each).deleted_at, std::nullopt);
    EXPECT_THAT(must(store().audit_of(each)), IsEmpty());
  }
  EXPECT_THAT(audited_actions(), ElementsAre("discard.bulk", "restore.bulk"));
}

TEST_P(OperationStepContract, APausedOperationStillSeesItsOutcomes) {
  failed_events(2);
  const Uuid id = started().id;
  advance(id, 1);
  change(id, OperationChange::What::pause);
  deliver(claim_one());
  EXPECT_EQ(hold(id).progress.counts.delivered, 1);
  EXPECT_EQ(must(store().operation(id)).progress.state, OperationState::paused);
}

TEST_P(OperationStepContract, AnotherOneGoesOnWhereItWasLeft) {
  failed_events(4);
  const Uuid id = started().id;
  advance(id, 3);
  age(kLease + 1s);
  const auto other = second_store();
  must(other->hold_operation(id, "e2", kLease));
  const OperationRecord after = must(other->advance_operation(id, "e2", 100, must(store().now())));
  EXPECT_EQ(after.progress.counts.taken, 4);
  EXPECT_EQ(after.progress.counts.in_flight(), 4);
  EXPECT_THAT(claim(), SizeIs(4));
}

TEST_P(OperationStepContract, AnEndIsSaidByTheHolder) {
  failed_event();
  const Uuid id = started().id;
  expect_invalid(store().end_operation(id, "e1", OperationState::paused, ""), "state");
  const OperationRecord ended = must(store().end_operation(id, "e1", OperationState::stopped, "too many failed again"));
  EXPECT_EQ(ended.progress.state, OperationState::stopped);
  EXPECT_EQ(ended.note, "too many failed again");
  EXPECT_TRUE(ended.ended_at);
  EXPECT_THAT(must(store().runnable_operations("e1")), IsEmpty());
  expect_error(store().advance_operation(id, "e1", 1, must(store().now())), ErrorCode::conflict, "stopped");
  expect_error(store().end_operation(id, "e1", OperationState::finished, ""), ErrorCode::conflict, "stopped");
}

TEST_P(OperationStepContract, WhatIsOverIsOnlyShown) {
  failed_event();
  const Uuid id = started().id;
  change(id, OperationChange::What::cancel);
  const OperationRecord shown = must(store().hold_operation(id, "e2", kLease));
  EXPECT_EQ(shown.progress.state, OperationState::cancelled);
  EXPECT_EQ(shown.executor, "e1");
}

TEST_P(OperationStepContract, APlanIsNotCarriedOut) {
  failed_event();
  const Uuid id = plan().id;
  EXPECT_THAT(must(store().runnable_operations("e1")), IsEmpty());
  EXPECT_EQ(hold(id).progress.state, OperationState::planned);
  expect_error(store().advance_operation(id, "e1", 1, must(store().now())), ErrorCode::conflict, "planned");
}

// An operator pauses or cancels, or it stops by itself, while events are in flight.
TEST_P(OperationStepContract, EventsInFlightAreCountedAfterAPauseACancelAndAStop) {
  using What = OperationChange::What;
  for (const OperationState state : {OperationState::paused, OperationState::cancelled, OperationState::stopped}) {
    SCOPED_TRACE(name(state));
    failed_events(3);
    const Uuid id = started().id;
    advance(id, 2);
    const auto replayed = claim();
    ASSERT_THAT(replayed, SizeIs(2));
    if (state == OperationState::stopped) {
      must(store().end_operation(id, "e1", OperationState::stopped, "too many failed again"));
    } else {
      change(id, state == OperationState::paused ? What::pause : What::cancel);
    }
    EXPECT_EQ(must(store().operation(id)).progress.counts.in_flight(), 2);
    EXPECT_THAT(must(store().runnable_operations("e1")), ElementsAre(id)) << "something is left to be counted";
    deliver(replayed[0]);
    settle(replayed[1], Outcome::failed(terminal_failure()));

    const OperationRecord counted = hold(id);
    EXPECT_EQ(counted.progress.state, state);
    EXPECT_EQ(counted.executor, "e1");
    EXPECT_EQ(counted.progress.counts.delivered, 1);
    EXPECT_EQ(counted.progress.counts.failed_again, 1);
    EXPECT_EQ(counted.progress.counts.in_flight(), 0);
    EXPECT_EQ(must(store().operation(id)).progress.counts, counted.progress.counts);
    EXPECT_THAT(must(store().runnable_operations("e1")), IsEmpty());
    if (state == OperationState::paused) change(id, What::cancel);
    for (const auto& dead : must(store().list_dead({}, 10, {})).events) {
      must(store().discard(dead.envelope.event_id(), operator_alice()));
    }
  }
}

TEST_P(OperationStepContract, WhatHasEndedIsCountedByAnybodyAndTakenByNobody) {
  failed_event();
  const Uuid id = started().id;
  advance(id);
  const auto replayed = claim();
  change(id, OperationChange::What::cancel);
  deliver(replayed.at(0));
  age(kLease + 1s);
  const auto other = second_store();
  EXPECT_THAT(must(other->runnable_operations("e2")), ElementsAre(id));
  const OperationRecord counted = must(other->hold_operation(id, "e2", kLease));
  EXPECT_EQ(counted.progress.counts.delivered, 1);
  EXPECT_EQ(counted.executor, "e1");
}

}  // namespace
}  // namespace sluice::contract
