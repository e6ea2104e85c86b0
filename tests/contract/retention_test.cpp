#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using std::chrono::days;
using testing::IsEmpty;
using testing::SizeIs;

SLUICE_CONTRACT(RetentionContract);

constexpr bool kDryRun = true;
constexpr int kLimit = 1000;

TEST_P(RetentionContract, NothingIsOldNothingHappens) {
  delivered_event();
  failed_event();
  const auto report = must(store().sweep_retention({}, kLimit, false));
  EXPECT_EQ(report.outbox_tombstoned, 0);
  EXPECT_EQ(report.outbox_deleted, 0);
  EXPECT_EQ(report.handled_deleted, 0);
  EXPECT_FALSE(report.more);
}

TEST_P(RetentionContract, ADeliveredEventIsTombstonedThenDeleted) {
  const Uuid id = delivered_event();
  age(days{44});
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_tombstoned, 0);
  age(days{2});
  const auto tombstoned = must(store().sweep_retention({}, kLimit, false));
  EXPECT_EQ(tombstoned.outbox_tombstoned, 1);
  EXPECT_EQ(tombstoned.outbox_deleted, 0);
  EXPECT_TRUE(event(id).deleted_at);
  age(days{6});
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_deleted, 0);
  age(days{2});
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_deleted, 1);
  EXPECT_EQ(store().get_event(id).error().code, ErrorCode::not_found);
}

TEST_P(RetentionContract, EventsThatAreNotFinishedAreNeverTouched) {
  const Uuid in_flight = publish();
  claim_one();
  NewEvent waiting = an_event();
  waiting.delay = std::chrono::hours{24 * 365};
  const Uuid pending = publish(waiting);
  const Uuid fresh = publish();
  age(days{200});
  const auto report = must(store().sweep_retention({}, kLimit, false));
  EXPECT_EQ(report.outbox_tombstoned, 0);
  EXPECT_EQ(report.outbox_deleted, 0);
  EXPECT_EQ(event(in_flight).status, Status::in_flight);
  EXPECT_EQ(event(pending).deleted_at, std::nullopt);
  EXPECT_EQ(event(fresh).deleted_at, std::nullopt);
}

TEST_P(RetentionContract, OldEventsBehindAnUnfinishedOneAreFound) {
  publish(events(3));
  const auto claimed = claim();
  deliver(claimed[1]);
  deliver(claimed[2]);
  age(days{46});
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_tombstoned, 2);
}

TEST_P(RetentionContract, SweptFailuresAreCounted) {
  failed_event();
  delivered_event();
  age(days{46});
  const auto tombstoned = must(store().sweep_retention({}, kLimit, false));
  EXPECT_EQ(tombstoned.outbox_tombstoned, 2);
  EXPECT_EQ(tombstoned.failed_swept, 1);
  age(days{8});
  const auto deleted = must(store().sweep_retention({}, kLimit, false));
  EXPECT_EQ(deleted.outbox_deleted, 2);
  EXPECT_EQ(deleted.failed_swept, 1);
}

TEST_P(RetentionContract, ADiscardedEventGoesAfterItsGrace) {
  const Uuid id = failed_event();
  must(store().discard(id, operator_alice()));
  age(days{8});
  const auto report = must(store().sweep_retention({}, kLimit, false));
  EXPECT_EQ(report.outbox_deleted, 1);
  EXPECT_EQ(report.failed_swept, 1);
  EXPECT_EQ(store().get_event(id).error().code, ErrorCode::not_found);
}

TEST_P(RetentionContract, ADryRunCountsTheSameAndChangesNothing) {
  const Uuid id = failed_event();
  age(days{46});
  const auto planned = must(store().sweep_retention({}, kLimit, kDryRun));
  EXPECT_EQ(planned.outbox_tombstoned, 1);
  EXPECT_EQ(planned.failed_swept, 1);
  EXPECT_EQ(event(id).deleted_at, std::nullopt);
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_tombstoned, 1);
  age(days{8});
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, kDryRun)).outbox_deleted, 1);
  EXPECT_TRUE(event(id).deleted_at);
}

TEST_P(RetentionContract, BatchesAreBoundedAndSayWhenThereIsMore) {
  publish(events(25));
  for (const ClaimedEvent& claimed : claim(25)) deliver(claimed);
  age(days{46});
  std::int64_t tombstoned = 0;
  int calls = 0;
  for (bool more = true; more && calls < 10; ++calls) {
    const auto report = must(store().sweep_retention({}, 10, false));
    EXPECT_LE(report.outbox_tombstoned, 10);
    tombstoned += report.outbox_tombstoned;
    more = report.more;
  }
  EXPECT_EQ(tombstoned, 25);
  EXPECT_GE(calls, 3);
  EXPECT_LT(calls, 10);
}

TEST_P(RetentionContract, EveryGenerationIsSwept) {
  for (const Generation generation : {1, 2, 5}) {
    NewEvent each = an_event();
    each.generation = generation;
    publish(each);
    ClaimRequest request = request_for("w1");
    request.generation = generation;
    deliver(claim(request).at(0));
  }
  age(days{46});
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_tombstoned, 3);
}

TEST_P(RetentionContract, DedupRowsOutliveTheirEvents) {
  publish();
  const ClaimedEvent claimed = claim_one();
  SettleItem item = settle_item(claimed, Outcome::handled());
  item.handled_by = {"worlds.indexer"};
  must(store().settle(std::vector{item}));
  const std::vector<store::HandledKey> key{{"worlds.indexer", claimed.envelope.idempotency_key()}};
  age(days{66});
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).handled_deleted, 0);
  EXPECT_THAT(must(store().already_handled(key)), SizeIs(1));
  age(days{2});
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).handled_deleted, 0) << "its tombstone may be restored";
  age(days{6});
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_deleted, 1);
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, kDryRun)).handled_deleted, 1);
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).handled_deleted, 1);
  EXPECT_THAT(must(store().already_handled(key)), IsEmpty());
}

NewEvent event_of(Timestamp occurred_at) {
  EnvelopeDraft draft = a_draft();
  draft.occurred_at = occurred_at;
  return an_event(draft);
}

// Replayed again and again: the event lives on, and so does what keeps its first handler from running twice.
TEST_P(RetentionContract, ADedupRowStaysWhileItsEventDoes) {
  publish();
  const ClaimedEvent claimed = claim_one();
  SettleItem item = settle_item(claimed, Outcome::failed(terminal_failure()));
  item.handled_by = {"worlds.indexer"};
  item.idempotency_key = claimed.envelope.idempotency_key();
  must(store().settle(std::vector{item}));
  const Uuid id = claimed.envelope.event_id();
  for (int round = 0; round < 2; ++round) {
    age(days{40});
    EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).handled_deleted, 0);
    must(store().replay(id, 1, operator_alice()));
    fail_once(id);
  }
  const std::vector<store::HandledKey> key{{"worlds.indexer", claimed.envelope.idempotency_key()}};
  EXPECT_THAT(must(store().already_handled(key)), SizeIs(1)) << "80 days old, and its event can still be replayed";
}

TEST_P(RetentionContract, ABusinessTimeLongAgoIsNoReasonToSweep) {
  const Uuid failed = failed_event(event_of(must(store().now()) - days{60}));
  const Uuid delivered = delivered_event(event_of(must(store().now()) - days{600}));
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, kDryRun)).outbox_tombstoned, 0);
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_tombstoned, 0);
  EXPECT_FALSE(event(failed).deleted_at);
  EXPECT_FALSE(event(delivered).deleted_at);
}

TEST_P(RetentionContract, ABusinessTimeInTheFutureKeepsNothing) {
  delivered_event(event_of(must(store().now()) + days{3650}));
  age(days{46});
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_tombstoned, 1);
}

TEST_P(RetentionContract, WhatWasSettledLateIsKeptFromThenOn) {
  const Uuid late = publish();
  age(days{60});
  deliver(claim_one());
  const Uuid failed = publish();
  age(days{44});
  fail_once(failed);
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_tombstoned, 0);
  age(days{2});
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_tombstoned, 1);
  EXPECT_TRUE(event(late).deleted_at);
  EXPECT_FALSE(event(failed).deleted_at);
}

TEST_P(RetentionContract, ARestoredEventIsKeptAsLongAgain) {
  const Uuid id = failed_event();
  age(days{46});
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_tombstoned, 1);
  must(store().restore(id, operator_alice()));
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_tombstoned, 0);
  age(days{44});
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_tombstoned, 0);
  EXPECT_FALSE(event(id).deleted_at);
  age(days{2});
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_tombstoned, 1);
}

TEST_P(RetentionContract, AnEventRestoredByPlainSqlIsKeptToo) {
  const Uuid id = failed_event();
  age(days{46});
  EXPECT_EQ(must(store().sweep_retention({}, kLimit, false)).outbox_tombstoned, 1);
  raw_sql("update {outbox} set deleted_at = null where id = '" + id.to_string() + "'");
  EXPECT_NE(raw_sql("select restored_at from {outbox}").at(0).at(0), std::nullopt);
}

TEST_P(RetentionContract, ASweepThatTakesSomethingIsAudited) {
  failed_event();
  must(store().sweep_retention({}, kLimit, false));
  EXPECT_THAT(must(store().audit({.action = "retention.sweep"}, 10, std::nullopt)), IsEmpty()) << "nothing was old";
  age(days{46});
  must(store().sweep_retention({}, kLimit, kDryRun, operator_alice()));
  EXPECT_THAT(must(store().audit({.action = "retention.sweep"}, 10, std::nullopt)), IsEmpty()) << "a dry run";
  must(store().sweep_retention({}, kLimit, false, operator_alice()));
  const auto audit = must(store().audit({.action = "retention.sweep"}, 10, std::nullopt));
  ASSERT_THAT(audit, SizeIs(1));
  EXPECT_EQ(audit[0].actor.name, operator_alice().name);
  EXPECT_EQ(audit[0].count, 1);
  EXPECT_NE(audit[0].detail.find("failed_swept"), std::string::npos) << audit[0].detail;
}

TEST_P(RetentionContract, PoliciesThatWouldForgetTooSoonAreRefused) {
  RetentionPolicies policies;
  policies.event_handled.active = policies.outbox.active + policies.outbox.grace;
  const auto refused = store().sweep_retention(policies, kLimit, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
}

// event_handled.active > outbox.active + outbox.grace, or a replayed event could be handled
// twice because its dedup row is gone.
SLUICE_CONTRACT(RetentionInequality);

TEST_P(RetentionInequality, TheDefaultsHoldIt) {
  const RetentionPolicies defaults;
  EXPECT_GT(defaults.event_handled.active, defaults.outbox.active + defaults.outbox.grace);
  EXPECT_TRUE(store().sweep_retention(defaults, kLimit, kDryRun));
}

TEST_P(RetentionInequality, IsStrictAndNothingIsSweptWithoutIt) {
  const Uuid id = delivered_event();
  age(days{200});
  RetentionPolicies policies;
  const Duration replayable = policies.outbox.active + policies.outbox.grace;
  for (const Duration active : {replayable, replayable - Duration{1}, Duration{1}}) {
    policies.event_handled.active = active;
    for (const bool dry_run : {true, false}) {
      const auto refused = store().sweep_retention(policies, kLimit, dry_run);
      ASSERT_FALSE(refused) << to_text(active);
      EXPECT_EQ(refused.error().code, ErrorCode::invalid);
      EXPECT_EQ(refused.error().field, "event_handled.active");
    }
  }
  EXPECT_EQ(event(id).deleted_at, std::nullopt);
  policies.event_handled.active = replayable + Duration{1};
  EXPECT_EQ(must(store().sweep_retention(policies, kLimit, false)).outbox_tombstoned, 1);
}

TEST_P(RetentionContract, AGroupOfFailuresIsForgottenWhenNoDeadLetterIsLeftAndNoneCame) {
  const Uuid id = failed_event();
  age(days{60});
  EXPECT_EQ(must(store().prune({})).failure_groups, 0) << "it has a dead letter";
  must(store().replay(id, 1, operator_alice()));
  fail_once(id);
  must(store().replay(id, 1, operator_alice()));
  deliver(claim_one());
  EXPECT_EQ(must(store().prune({})).failure_groups, 0) << "one came just now";
  age(days{50});
  EXPECT_EQ(must(store().prune({})).failure_groups, 0);
  age(days{4});
  EXPECT_EQ(must(store().prune({})).failure_groups, 1);
  EXPECT_EQ(must(store().prune({})).failure_groups, 0);
}

TEST_P(RetentionContract, ARestoredDeadLetterHasAGroupAgain) {
  const Uuid id = failed_event();
  must(store().discard(id, operator_alice()));
  age(days{60});
  EXPECT_EQ(must(store().prune({})).failure_groups, 1);
  failed_event([] {
    EnvelopeDraft draft = a_draft();
    draft.event_type = "another.type";
    return an_event(draft);
  }());
  must(store().restore(id, operator_alice()));
  EXPECT_THAT(must(store().failure_groups({})), SizeIs(2));
}

}  // namespace
}  // namespace sluice::contract
