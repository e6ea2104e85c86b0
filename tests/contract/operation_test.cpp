// Planning, starting and steering bulk operations; operation_step_test.cpp carries them out.
#include "tests/contract/operation_contract.hpp"

namespace sluice::contract {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class OperationContract : public OperationFixture {};

SLUICE_OVER_EVERY_STORE(OperationContract);

TEST_P(OperationContract, APlanFreezesTheSetInInsertOrder) {
  const auto failed = failed_events(3);
  PlanRequest request = plan_of(OperationKind::replay);
  request.to_generation = 2;
  request.settings = {.rate = 5, .canary = 1, .stop_percent = 30};
  const OperationRecord planned = must(store().plan_operation(request));
  failed_event();  // too late
  EXPECT_EQ(planned.id, request.id);
  EXPECT_EQ(planned.progress.state, OperationState::planned);
  EXPECT_EQ(planned.progress.counts.total, 3);
  EXPECT_EQ(planned.progress.counts.remaining(), 3);
  EXPECT_THAT(item_events(planned.id), ElementsAreArray(failed));
  EXPECT_THAT(item_states(planned.id), Each("waiting"));
  const OperationRecord kept = must(store().operation(planned.id));
  EXPECT_EQ(kept.progress.kind, OperationKind::replay);
  EXPECT_EQ(kept.progress.counts, planned.progress.counts);
  EXPECT_EQ(kept.progress.settings, request.settings);
  EXPECT_EQ(kept.filter, "everything");
  EXPECT_EQ(kept.to_generation, 2);
  EXPECT_EQ(kept.actor.name, "planner");
  EXPECT_EQ(kept.expires_at, kept.planned_at + 15min);
  EXPECT_EQ(kept.started_at, std::nullopt);
  EXPECT_EQ(kept.ended_at, std::nullopt);
  EXPECT_EQ(kept.progress.paced_at, std::nullopt);
}

TEST_P(OperationContract, APlanChangesNothing) {
  const auto failed = failed_events(2);
  plan();
  plan(OperationKind::discard);
  for (const Uuid& id : failed) {
    EXPECT_EQ(event(id).status, Status::failed);
    EXPECT_EQ(event(id).deleted_at, std::nullopt);
  }
  EXPECT_THAT(must(store().audit({}, 10, {})), IsEmpty());
}

TEST_P(OperationContract, ThePlaceOfItemsIsThePage) {
  const auto failed = failed_events(5);
  const OperationRecord planned = plan();
  const auto page = must(store().operation_items(planned.id, 2, 2));
  ASSERT_THAT(page, SizeIs(2));
  EXPECT_EQ(page[0].place, 3);
  EXPECT_EQ(page[0].event_id, failed[2]);
  EXPECT_EQ(page[1].place, 4);
  EXPECT_THAT(must(store().operation_items(planned.id, 2, 5)), IsEmpty());
}

TEST_P(OperationContract, APlanTakesTheDeadLettersThatMatch) {
  const Uuid wanted = failed_event(an_event("test.wanted"));
  const Uuid discarded = failed_event(an_event("test.wanted"));
  must(store().discard(discarded, operator_alice()));
  failed_event(an_event("test.other"));
  delivered_event(an_event("test.wanted"));
  publish(an_event("test.wanted"));
  EXPECT_THAT(item_events(plan(OperationKind::replay, {.event_type = "test.wanted"}).id), ElementsAre(wanted));
  EXPECT_THAT(item_events(plan(OperationKind::discard, {.event_type = "test.w*"}).id), ElementsAre(wanted));
  EXPECT_THAT(item_events(plan(OperationKind::restore, {.event_type = "test.w*"}).id), ElementsAre(discarded));
  EXPECT_EQ(plan(OperationKind::restore, {.event_type = "test.other"}).progress.counts.total, 0);
}

TEST_P(OperationContract, APlanLeavesOutWhatTheFilterExcepts) {
  const auto ids = failed_events(4);
  EventFilter filter;
  filter.except = {ids[2]};
  const OperationRecord planned = plan(OperationKind::discard, filter);
  EXPECT_EQ(planned.progress.counts.total, 3);
  for (const auto& item : must(store().operation_items(planned.id, 100, 0))) EXPECT_NE(item.event_id, ids[2]);
}

TEST_P(OperationContract, APlanOfNamedEventsLeavesOutWhatIsNoDeadLetter) {
  const auto failed = failed_events(3);
  const Uuid discarded = failed_event();
  must(store().discard(discarded, operator_alice()));
  const Uuid pending = publish();
  PlanRequest request = plan_of(OperationKind::replay, {.event_type = "nothing.like.that"});
  request.event_ids = {failed[2], pending, discarded, failed[0], failed[0], new_id()};
  EXPECT_THAT(item_events(must(store().plan_operation(request)).id), ElementsAre(failed[0], failed[2]));
  request.id = new_id();
  request.kind = OperationKind::restore;
  EXPECT_THAT(item_events(must(store().plan_operation(request)).id), ElementsAre(discarded));
}

TEST_P(OperationContract, AnEmptySetIsNotKept) {
  const OperationRecord planned = plan();
  EXPECT_EQ(planned.progress.counts.total, 0);
  EXPECT_EQ(store().operation(planned.id).error().code, ErrorCode::not_found);
  EXPECT_THAT(must(store().operations(10)), IsEmpty());
}

TEST_P(OperationContract, ASetThatIsTooLargeIsRefused) {
  failed_events(3);
  PlanRequest request = plan_of(OperationKind::replay);
  request.most = 2;
  const auto refused = store().plan_operation(request);
  expect_invalid(refused, "filter");
  EXPECT_THAT(refused.error().message, HasSubstr("more than 2 events"));
  EXPECT_EQ(store().operation(request.id).error().code, ErrorCode::not_found);
  request.most = 3;
  EXPECT_EQ(must(store().plan_operation(request)).progress.counts.total, 3);
}

TEST_P(OperationContract, AReplayNeedsItsGeneration) {
  failed_event();
  PlanRequest request = plan_of(OperationKind::replay);
  request.to_generation.reset();
  expect_invalid(store().plan_operation(request), "to_generation");
  request.to_generation = 0;
  expect_invalid(store().plan_operation(request), "to_generation");
}

TEST_P(OperationContract, NewestFirstWithoutExpiredPlans) {
  failed_event();
  const OperationRecord forgotten = plan();
  const OperationRecord running = started();
  age(16min);
  const OperationRecord fresh = plan();
  std::vector<Uuid> listed;
  for (const OperationRecord& each : must(store().operations(10))) listed.push_back(each.id);
  EXPECT_THAT(listed, ElementsAre(fresh.id, running.id));
  EXPECT_THAT(must(store().operations(1)), SizeIs(1));
  EXPECT_EQ(must(store().operation(forgotten.id)).progress.state, OperationState::planned);
}

TEST_P(OperationContract, PlansOfYesterdayAreForgottenByTheNextOne) {
  failed_event();
  const OperationRecord old = plan();
  const OperationRecord running = started();
  age(25h);
  plan();
  EXPECT_EQ(store().operation(old.id).error().code, ErrorCode::not_found);
  EXPECT_THAT(must(store().operation_items(old.id, 10, 0)), IsEmpty());
  EXPECT_EQ(must(store().operation(running.id)).progress.state, OperationState::running);
}

TEST_P(OperationContract, WhatEndedLongAgoIsForgottenByTheNextPlan) {
  failed_event();
  const OperationRecord old = started();
  change(old.id, OperationChange::What::cancel);
  age(59 * 24h);
  plan();
  EXPECT_EQ(must(store().operation(old.id)).progress.state, OperationState::cancelled);
  age(2 * 24h);
  plan();
  EXPECT_EQ(store().operation(old.id).error().code, ErrorCode::not_found);
  EXPECT_THAT(must(store().operation_items(old.id, 10, 0)), IsEmpty());
}

TEST_P(OperationContract, AnUnknownOperationIsNotFound) {
  const Uuid id = new_id();
  EXPECT_EQ(store().operation(id).error().code, ErrorCode::not_found);
  EXPECT_EQ(store().start_operation(id, 1, {}, operator_alice()).error().code, ErrorCode::not_found);
  EXPECT_EQ(store().change_operation(id, {}, operator_alice()).error().code, ErrorCode::not_found);
  EXPECT_EQ(store().hold_operation(id, "e1", kLease).error().code, ErrorCode::not_found);
  EXPECT_THAT(must(store().operation_items(id, 10, 0)), IsEmpty());
  must(store().release_operation(id, "e1"));
}

TEST_P(OperationContract, AStartRunsItUnderTheNameOfTheStarter) {
  failed_events(2);
  const OperationRecord planned = plan();
  const OperationSettings settings{.rate = 7, .canary = 1, .stop_percent = 50};
  const OperationRecord running = must(store().start_operation(planned.id, 2, settings, operator_alice()));
  EXPECT_EQ(running.progress.state, OperationState::running);
  EXPECT_EQ(running.progress.settings, settings);
  EXPECT_EQ(running.actor.name, "alice@example.com");
  EXPECT_EQ(running.actor.surface, "cli");
  EXPECT_EQ(running.actor.reason, "the upstream is back");
  EXPECT_TRUE(running.started_at);
}

TEST_P(OperationContract, AStartIsOneAuditRecord) {
  failed_events(2);
  const OperationRecord planned = plan();
  must(store().start_operation(planned.id, 2, {.rate = 7, .canary = 1, .stop_percent = 50}, operator_alice()));
  const auto audit = must(store().audit({}, 10, {}));
  ASSERT_THAT(audit, SizeIs(1));
  EXPECT_EQ(audit[0].action, "replay.bulk");
  EXPECT_EQ(audit[0].count, 2);
  EXPECT_EQ(audit[0].event_id, std::nullopt);
  EXPECT_EQ(audit[0].actor.name, "alice@example.com");
  EXPECT_EQ(audit[0].actor.reason, "the upstream is back");
  const auto detail = members_of(audit[0].detail);
  EXPECT_EQ(detail.at("operation_id"), json::quote(planned.id.to_string()));
  EXPECT_EQ(detail.at("filter"), R"("everything")");
  EXPECT_EQ(detail.at("to_generation"), "1");
  EXPECT_EQ(detail.at("rate"), "7");
  EXPECT_EQ(detail.at("canary"), "1");
  EXPECT_EQ(detail.at("stop_percent"), "50");
  EXPECT_THAT(detail, SizeIs(6));
}

TEST_P(OperationContract, AStartNeedsAReasonAndTheRightNumber) {
  failed_events(2);
  const OperationRecord planned = plan();
  Actor silent = operator_alice();
  silent.reason.clear();
  expect_invalid(try_start(planned, silent), "reason");
  expect_invalid(store().start_operation(planned.id, 3, {}, operator_alice()), "count");
  EXPECT_EQ(must(store().operation(planned.id)).progress.state, OperationState::planned);
  EXPECT_THAT(must(store().audit({}, 10, {})), IsEmpty());
}

TEST_P(OperationContract, AnExpiredPlanCannotStart) {
  failed_event();
  const OperationRecord planned = plan();
  age(15min + 1s);
  expect_error(try_start(planned), ErrorCode::conflict, "expired");
}

TEST_P(OperationContract, ItStartsOnce) {
  failed_event();
  const OperationRecord planned = plan();
  must(try_start(planned));
  expect_error(try_start(planned), ErrorCode::conflict, "running");
  change(planned.id, OperationChange::What::cancel);
  expect_error(try_start(planned), ErrorCode::conflict, "cancelled");
  EXPECT_THAT(audited_actions(), ElementsAre("replay.bulk", "operation.cancel"));
}

TEST_P(OperationContract, ASetThatMovedCannotStart) {
  const auto failed = failed_events(5);
  const OperationRecord planned = plan();
  must(store().discard(failed[0], operator_alice()));
  expect_error(try_start(planned), ErrorCode::conflict, "1 of");
  must(store().replay(failed[1], 1, operator_alice()));
  fail_once(failed[1]);  // failed as before, but in another cycle
  must(store().replay(failed[2], 1, operator_alice()));
  raw_sql("delete from {outbox} where id = '" + failed[3].to_string() + "'");
  const auto refused = try_start(planned);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, testing::ContainsRegex("4 of (the )?5"));
  EXPECT_THAT(refused.error().message, HasSubstr("again"));
  EXPECT_EQ(must(store().operation(planned.id)).progress.state, OperationState::planned);
}

TEST_P(OperationContract, ARestoreNeedsItsEventsDiscarded) {
  const Uuid id = failed_event();
  must(store().discard(id, operator_alice()));
  const OperationRecord planned = plan(OperationKind::restore);
  must(store().restore(id, operator_alice()));
  expect_error(try_start(planned), ErrorCode::conflict, "1 of");
  must(store().discard(id, operator_alice()));
  must(try_start(planned));
  EXPECT_EQ(audited_actions().back(), "restore.bulk");
}

TEST_P(OperationContract, PausedAndResumed) {
  failed_event();
  const Uuid id = started().id;
  EXPECT_EQ(change(id, OperationChange::What::pause).progress.state, OperationState::paused);
  EXPECT_THAT(must(store().runnable_operations("e1")), IsEmpty());
  expect_error(store().advance_operation(id, "e1", 1, {}), ErrorCode::conflict, "paused");
  EXPECT_EQ(change(id, OperationChange::What::resume).progress.state, OperationState::running);
  EXPECT_THAT(must(store().runnable_operations("e1")), ElementsAre(id));
  EXPECT_THAT(audited_actions(), ElementsAre("replay.bulk", "operation.pause", "operation.resume"));
  const auto record = must(store().audit({}, 1, {})).at(0);
  EXPECT_EQ(members_of(record.detail).at("operation_id"), json::quote(id.to_string()));
  EXPECT_EQ(record.actor.name, "alice@example.com");
}

TEST_P(OperationContract, TheRateChangesUntilItIsOver) {
  failed_event();
  const Uuid id = plan().id;
  EXPECT_EQ(change(id, OperationChange::What::rate, 3).progress.settings.rate, 3);
  must(store().start_operation(id, 1, {.rate = 4}, operator_alice()));
  EXPECT_EQ(change(id, OperationChange::What::rate, 5).progress.settings.rate, 5);
  change(id, OperationChange::What::pause);
  EXPECT_EQ(change(id, OperationChange::What::rate, 6).progress.settings.rate, 6);
  EXPECT_EQ(must(store().operation(id)).progress.state, OperationState::paused);
  EXPECT_EQ(must(store().operation(id)).progress.settings.rate, 6);
  change(id, OperationChange::What::cancel);
  expect_error(store().change_operation(id, {OperationChange::What::rate, 7}, operator_alice()), ErrorCode::conflict,
               "cancelled");
}

TEST_P(OperationContract, CancelledFromEveryStateThatIsNotOver) {
  failed_event();
  const Uuid planned = plan().id;
  const Uuid running = started().id;
  const Uuid paused = started().id;
  change(paused, OperationChange::What::pause);
  for (const Uuid& id : {planned, running, paused}) {
    const OperationRecord cancelled = change(id, OperationChange::What::cancel);
    EXPECT_EQ(cancelled.progress.state, OperationState::cancelled);
    EXPECT_TRUE(cancelled.ended_at);
    expect_error(store().change_operation(id, {OperationChange::What::cancel, 0}, operator_alice()),
                 ErrorCode::conflict, "cancelled");
  }
}

TEST_P(OperationContract, AStateThatDoesNotAllowItIsNamed) {
  failed_event();
  const auto refuses = [&](const Uuid& id, OperationChange::What what, const std::string& state) {
    expect_error(store().change_operation(id, {what, 0}, operator_alice()), ErrorCode::conflict, state);
  };
  const Uuid planned = plan().id;
  refuses(planned, OperationChange::What::pause, "planned");
  refuses(planned, OperationChange::What::resume, "planned");
  const Uuid id = started().id;
  refuses(id, OperationChange::What::resume, "running");
  change(id, OperationChange::What::pause);
  refuses(id, OperationChange::What::pause, "paused");
  change(id, OperationChange::What::resume);
  must(store().end_operation(id, "e1", OperationState::finished, ""));
  refuses(id, OperationChange::What::pause, "finished");
  refuses(id, OperationChange::What::resume, "finished");
  refuses(id, OperationChange::What::cancel, "finished");
}

}  // namespace
}  // namespace sluice::contract
