// The attempt log: what each attempt at an event did.
#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::AttemptRecord;
using store::ConsumerReport;
using store::Reported;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

class AttemptContract : public StoreContract {
 protected:
  Attempt an_attempt(const Outcome& outcome, const std::string& handler = "billing.mailer") {
    Attempt attempt = *attempt_of(outcome);
    attempt.handler_name = handler;
    attempt.worker = "w1";
    attempt.started_at = must(store().now());
    attempt.took = 1500us;
    return attempt;
  }
  SettleItem item(const ClaimedEvent& claimed, const Outcome& outcome,
                  const RetryPolicy& policy = minute_retries(100)) {
    SettleItem made = settle_item(claimed, outcome, policy);
    made.attempts.push_back(an_attempt(outcome));
    return made;
  }
  SettleReport settle_recorded(const ClaimedEvent& claimed, const Outcome& outcome,
                               const RetryPolicy& policy = minute_retries(100)) {
    const SettleItem one = item(claimed, outcome, policy);
    return must(store().settle(std::span{&one, 1}));
  }
  std::vector<AttemptRecord> log(const Uuid& id) { return must(store().attempts_of(id)); }
  std::vector<int> numbers(const Uuid& id) {
    std::vector<int> all;
    for (const AttemptRecord& record : log(id)) all.push_back(record.number);
    return all;
  }
  void fail_times(const Uuid& id, int times) {
    for (int n = 0; n < times; ++n) {
      settle_recorded(claim_one(), Outcome::failed(timeout_failure()));
      age(61s);
    }
    ASSERT_EQ(event(id).attempts, times);
  }
};
SLUICE_OVER_EVERY_STORE(AttemptContract);

TEST_P(AttemptContract, AFirstSuccessLeavesNothing) { EXPECT_THAT(log(delivered_event()), IsEmpty()); }

TEST_P(AttemptContract, KeepsWhatAnAttemptDid) {
  auto draft = a_draft();
  draft.trace_context = kTrace;
  const Uuid id = publish(an_event(draft));
  Outcome outcome = Outcome::failed({"http_503", "busy", {}, false});
  outcome.response = {503, "come back later"};
  const ClaimedEvent claimed = claim_one();
  SettleItem settled = item(claimed, outcome);
  must(store().settle(std::span{&settled, 1}));
  const auto kept = log(id);
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].number, 1);
  EXPECT_EQ(kept[0].claim_seq, claimed.claim.claim_seq);
  EXPECT_EQ(kept[0].replay, 0);
  Attempt expected = settled.attempts.front();
  expected.trace_id = "0af7651916cd43dd8448eb211c80319c";  // of the event, where who ran it says nothing
  EXPECT_EQ(kept[0].attempt, expected);
}

TEST_P(AttemptContract, ASuccessAfterFailuresFollowsThem) {
  const Uuid id = publish();
  fail_times(id, 2);
  settle_recorded(claim_one(), Outcome::handled());
  const auto kept = log(id);
  ASSERT_THAT(kept, SizeIs(3));
  EXPECT_EQ(kept[0].attempt.outcome, AttemptOutcome::failed);
  EXPECT_EQ(kept[2].attempt.outcome, AttemptOutcome::handled);
  EXPECT_EQ(kept[2].claim_seq, 3);
  EXPECT_EQ(event(id).status, Status::delivered);
}

TEST_P(AttemptContract, SeveralHandlersOfOneClaimAreNumberedInOrder) {
  const Uuid id = publish();
  SettleItem settled = item(claim_one(), Outcome::failed(timeout_failure()));
  settled.attempts.push_back(an_attempt(Outcome::handled(), "crm.sync"));
  must(store().settle(std::span{&settled, 1}));
  const auto kept = log(id);
  ASSERT_THAT(kept, SizeIs(2));
  EXPECT_EQ(kept[0].attempt.handler_name, "billing.mailer");
  EXPECT_EQ(kept[1].attempt.handler_name, "crm.sync");
  EXPECT_EQ(kept[1].number, 2);
}

TEST_P(AttemptContract, AFencedAttemptLeavesNothing) {
  const Uuid id = publish();
  const ClaimedEvent lost = claim_one();
  age(10min);
  const auto expired = must(store().expired_claims(10));
  ASSERT_THAT(expired, SizeIs(1));
  SettleItem taken{expired[0].claim, sluice::settle(0, Outcome::expired(), minute_retries(), 0.0), {}, {}};
  taken.attempts.push_back(an_attempt(Outcome::expired(), ""));
  must(store().settle(std::span{&taken, 1}));
  EXPECT_THAT(settle_recorded(lost, Outcome::failed(timeout_failure())).fenced, ElementsAre(id));
  EXPECT_THAT(settle_recorded(lost, Outcome::handled()).fenced, ElementsAre(id));
  const auto kept = log(id);
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].attempt.outcome, AttemptOutcome::expired);
  EXPECT_EQ(kept[0].attempt.handler_name, "");
}

TEST_P(AttemptContract, OfABatchOnlyTheFencedLeaveNothing) {
  const Uuid kept_id = publish();
  const Uuid lost_id = publish();
  const auto claimed = claim();
  ASSERT_THAT(claimed, SizeIs(2));
  std::vector<SettleItem> items;
  for (const ClaimedEvent& each : claimed) items.push_back(item(each, Outcome::failed(timeout_failure())));
  for (SettleItem& each : items) {
    if (each.claim.event_id == lost_id) each.claim.claim_seq += 7;
  }
  EXPECT_THAT(must(store().settle(items)).fenced, ElementsAre(lost_id));
  EXPECT_THAT(log(kept_id), SizeIs(1));
  EXPECT_THAT(log(lost_id), IsEmpty());
}

TEST_P(AttemptContract, TheFirstAndTheLatestAreKept) {
  raw_sql("update {settings} set value = '4' where key = 'attempts_kept'");
  const Uuid id = publish();
  fail_times(id, 9);
  EXPECT_THAT(numbers(id), ElementsAre(1, 7, 8, 9));
}

TEST_P(AttemptContract, AReplayGoesOnInTheSameLog) {
  const Uuid id = publish();
  settle_recorded(claim_one(), Outcome::failed(terminal_failure()));
  must(store().replay(id, 1, operator_alice()));
  const ClaimedEvent again = claim_one();
  const auto looked_up = must(store().relayed(std::span{&id, 1}));
  ASSERT_THAT(looked_up, SizeIs(1));
  EXPECT_EQ(looked_up[0].replay, 1);
  ASSERT_TRUE(looked_up[0].replayed_at);
  EXPECT_LE(*looked_up[0].replayed_at, again.claimed_at);
  settle_recorded(again, Outcome::handled());
  const auto kept = log(id);
  ASSERT_THAT(kept, SizeIs(2));
  EXPECT_EQ(kept[0].replay, 0);
  EXPECT_EQ(kept[1].replay, 1);
}

TEST_P(AttemptContract, RetentionTakesTheLogWithItsEvent) {
  const Uuid id = publish();
  settle_recorded(claim_one(), Outcome::failed(terminal_failure()));
  const RetentionPolicies policies{};
  age(policies.outbox.active + 1h);
  must(store().sweep_retention(policies, 100, false));
  EXPECT_THAT(log(id), SizeIs(1)) << "a tombstone keeps its story";
  age(policies.outbox.grace + 1h);
  EXPECT_EQ(must(store().sweep_retention(policies, 100, true)).outbox_deleted, 1);
  EXPECT_THAT(log(id), SizeIs(1)) << "a dry run takes nothing";
  EXPECT_EQ(must(store().sweep_retention(policies, 100, false)).outbox_deleted, 1);
  EXPECT_THAT(log(id), IsEmpty());
}

TEST_P(AttemptContract, AConsumersReportBringsItsAttempt) {
  publish();
  const ClaimedEvent claimed = claim(request_for("host:1:x/relay:nats/0")).at(0);
  const Uuid id = claimed.claim.event_id;
  ConsumerReport report{id, 0, "k", false, {}};
  report.progress.handler_name = "billing.mailer";
  report.progress.attempts = 1;
  report.attempts.push_back(an_attempt(Outcome::failed(timeout_failure())));
  EXPECT_THAT(must(store().report(std::span{&report, 1})), ElementsAre(Reported::early));
  EXPECT_THAT(log(id), IsEmpty()) << "it will be said again";
  deliver(claimed);
  EXPECT_THAT(must(store().report(std::span{&report, 1})), ElementsAre(Reported::done));
  const auto kept = log(id);
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].claim_seq, 0);
  EXPECT_EQ(kept[0].attempt.handler_name, "billing.mailer");
  report.replay = 7;
  EXPECT_THAT(must(store().report(std::span{&report, 1})), ElementsAre(Reported::stale));
  EXPECT_THAT(log(id), SizeIs(1));
}

TEST_P(AttemptContract, AReportWhoseAnswerWasLostIsLoggedOnce) {
  publish();
  const ClaimedEvent claimed = claim(request_for("host:1:x/relay:nats/0")).at(0);
  deliver(claimed);
  const Uuid id = claimed.claim.event_id;
  ConsumerReport report{id, 0, "k", false, {}};
  report.progress.handler_name = "billing.mailer";
  report.progress.attempts = 1;
  report.attempts.push_back(an_attempt(Outcome::failed(timeout_failure())));
  for (int times = 0; times < 2; ++times) {
    EXPECT_THAT(must(store().report(std::span{&report, 1})), ElementsAre(Reported::done));
  }
  EXPECT_THAT(log(id), SizeIs(1));
  EXPECT_EQ(event(id).attempts, 1);

  // Another handler, another worker and a later run are attempts of their own.
  ConsumerReport other = report;
  other.progress.handler_name = other.attempts[0].handler_name = "crm.sync";
  must(store().report(std::span{&other, 1}));
  other = report;
  other.attempts[0].worker = "w2";
  must(store().report(std::span{&other, 1}));
  report.attempts[0] = an_attempt(Outcome::handled());
  report.attempts[0].started_at += 1s;
  report.handled = true;
  for (int times = 0; times < 2; ++times) {
    EXPECT_THAT(must(store().report(std::span{&report, 1})), ElementsAre(Reported::done));
  }
  EXPECT_THAT(numbers(id), ElementsAre(1, 2, 3, 4));
}

TEST_P(AttemptContract, AnEffectsSettleRecordsInItsTransaction) {
  const Uuid id = publish();
  fail_times(id, 1);
  const ClaimedEvent claimed = claim_one();
  const SettleItem settled = item(claimed, Outcome::handled());
  {
    auto undone = must(store().begin_effect(10s));
    must(undone->settle(std::span{&settled, 1}, std::nullopt));
  }
  EXPECT_THAT(log(id), SizeIs(1));
  auto effect = must(store().begin_effect(10s));
  must(effect->settle(std::span{&settled, 1}, std::nullopt));
  must(effect->commit());
  EXPECT_THAT(log(id), SizeIs(2));
}

}  // namespace
}  // namespace sluice::contract
