#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::DeadCursor;
using store::EventFilter;
using store::FailureGroup;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class TriageContract : public StoreContract {
 protected:
  /// The only event that is due fails for good, with this error.
  Uuid failed_with(const std::string& message, const NewEvent& what = an_event(),
                   const std::string& error_class = "PayloadError") {
    const Uuid id = publish(what);
    settle(claim_one(), Outcome::failed({error_class, message, {}, true}));
    EXPECT_EQ(event(id).status, Status::failed);
    return id;
  }
  std::vector<Uuid> dead(const EventFilter& filter = {}) {
    std::vector<Uuid> found;
    for (const EventRecord& record : must(store().list_dead(filter, 100, {})).events) {
      found.push_back(record.envelope.event_id());
    }
    EXPECT_EQ(must(store().count_dead(filter, 1000)), static_cast<std::int64_t>(found.size()));
    return found;
  }
  std::vector<FailureGroup> groups(const EventFilter& filter = {}) { return must(store().failure_groups(filter)); }
};

SLUICE_OVER_EVERY_STORE(TriageContract);

TEST_P(TriageContract, ADeadLetterKnowsWhenItFailed) {
  const Uuid id = publish();
  const ClaimedEvent claimed = claim_one();
  EXPECT_EQ(event(id).failed_at, std::nullopt);
  const Timestamp before = must(store().now());
  settle(claimed, Outcome::failed(terminal_failure()));
  ASSERT_TRUE(event(id).failed_at);
  EXPECT_GE(*event(id).failed_at, before);
  EXPECT_LE(*event(id).failed_at, must(store().now()));
  must(store().replay(id, 1, operator_alice()));
  EXPECT_EQ(event(id).failed_at, std::nullopt);
}

TEST_P(TriageContract, ARetryIsNotAFailure) {
  const Uuid id = publish();
  settle(claim_one(), Outcome::failed(timeout_failure()), minute_retries());
  EXPECT_EQ(event(id).failed_at, std::nullopt);
  EXPECT_THAT(dead(), IsEmpty());
  EXPECT_THAT(groups(), IsEmpty());
}

TEST_P(TriageContract, DeadLettersAreTheFailedOnesThatAreNotDiscarded) {
  const Uuid failed = failed_event();
  const Uuid discarded = failed_event();
  must(store().discard(discarded, operator_alice()));
  delivered_event();
  publish();
  claim_one();
  publish();
  EXPECT_THAT(dead(), ElementsAre(failed));
  must(store().restore(discarded, operator_alice()));
  EXPECT_THAT(dead(), ElementsAre(discarded, failed));
}

TEST_P(TriageContract, NewestFailureFirstThenNewestEvent) {
  const Uuid first = publish();
  const Uuid second = publish();
  const auto claimed = claim();
  settle(claimed.at(1), Outcome::failed(terminal_failure()));
  settle(claimed.at(0), Outcome::failed(terminal_failure()));
  EXPECT_THAT(dead(), ElementsAre(first, second));
  const auto together = publish(events(3));
  std::vector<SettleItem> items;
  for (const ClaimedEvent& each : claim()) items.push_back(settle_item(each, Outcome::failed(terminal_failure())));
  must(store().settle(items));
  EXPECT_THAT(dead(), ElementsAre(together[2], together[1], together[0], first, second));
}

TEST_P(TriageContract, PagesMeetWithoutGapOrOverlap) {
  publish(events(11));
  std::vector<SettleItem> items;  // all at the same time: only seq tells them apart
  for (const ClaimedEvent& each : claim(11)) items.push_back(settle_item(each, Outcome::failed(terminal_failure())));
  must(store().settle(items));
  const auto all = dead();
  std::vector<Uuid> seen;
  std::optional<DeadCursor> after;
  int pages = 0;
  do {
    const auto page = must(store().list_dead({}, 4, after));
    EXPECT_LE(page.events.size(), 4U);
    for (const EventRecord& record : page.events) seen.push_back(record.envelope.event_id());
    if (pages == 0) failed_event();  // newer than the first page: must not shift the others
    after = page.next;
  } while (after && ++pages < 10);
  EXPECT_EQ(pages, 2);
  EXPECT_THAT(seen, ElementsAreArray(all));
}

TEST_P(TriageContract, TheLastFullPageHasNoNext) {
  failed_event();
  failed_event();
  EXPECT_EQ(must(store().list_dead({}, 2, {})).next, std::nullopt);
  const auto first = must(store().list_dead({}, 1, {}));
  ASSERT_TRUE(first.next);
  EXPECT_EQ(first.next->seq, first.events.at(0).seq);
  EXPECT_EQ(first.next->failed_at, first.events.at(0).failed_at);
}

TEST_P(TriageContract, ACountStopsAtItsLimit) {
  for (int n = 0; n < 3; ++n) failed_event();
  EXPECT_EQ(must(store().count_dead({}, 2)), 2);
  EXPECT_EQ(must(store().count_dead({}, 100)), 3);
}

TEST_P(TriageContract, AllExceptSome) {
  std::vector<Uuid> all;
  for (int n = 0; n < 5; ++n) all.push_back(failed_event());
  EventFilter filter;
  filter.except = {all[1], all[3], new_id()};
  EXPECT_EQ(dead(filter), (std::vector<Uuid>{all[4], all[2], all[0]}));
  ASSERT_EQ(groups(filter).size(), 1U);
  EXPECT_EQ(groups(filter).front().count, 3);
}

TEST_P(TriageContract, ByWhatTheEventIs) {
  EnvelopeDraft draft = a_draft("platform.scan.completed");
  draft.source = "billing";
  draft.target = "worlds";
  draft.workspace_id = new_id();
  NewEvent special = an_event(draft);
  special.ordering_key = "customer-7";
  const Uuid plain = failed_event(an_event("platform.scan_completed"));
  const Uuid found = failed_event(special);
  EXPECT_THAT(dead({.event_type = "platform.scan.completed"}), ElementsAre(found));
  EXPECT_THAT(dead({.event_type = "platform.scan.*"}), ElementsAre(found));
  EXPECT_THAT(dead({.event_type = "platform.*"}), ElementsAre(found, plain));
  EXPECT_THAT(dead({.event_type = "platform.scan"}), IsEmpty());
  EXPECT_THAT(dead({.source = "billing"}), ElementsAre(found));
  EXPECT_THAT(dead({.target = "worlds"}), ElementsAre(found));
  EXPECT_THAT(dead({.workspace_id = draft.workspace_id}), ElementsAre(found));
  EXPECT_THAT(dead({.ordering_key = "customer-7"}), ElementsAre(found));
  EXPECT_THAT(dead({.id = plain}), ElementsAre(plain));
  EXPECT_THAT(dead({.id = new_id()}), IsEmpty());
  EXPECT_THAT(dead({.source = "billing", .target = "elsewhere"}), IsEmpty());
}

TEST_P(TriageContract, ByGeneration) {
  const Uuid id = failed_event();
  failed_event();
  must(store().replay(id, 2, operator_alice()));
  ClaimRequest request = request_for("w2");
  request.generation = 2;
  settle(claim(request).at(0), Outcome::failed(terminal_failure()));
  EXPECT_THAT(dead({.generation = 2}), ElementsAre(id));
  EXPECT_THAT(dead({.generation = 3}), IsEmpty());
}

TEST_P(TriageContract, ByHowItFailed) {
  const Uuid payload = failed_with("amount is missing");
  const Uuid timeout = failed_with("no answer", an_event(), "TimeoutError");
  EXPECT_THAT(dead({.error_class = "TimeoutError"}), ElementsAre(timeout));
  EXPECT_THAT(dead({.error_class = "timeout"}), ElementsAre(timeout));
  EXPECT_THAT(dead({.fingerprint = *event(payload).fingerprint}), ElementsAre(payload));
  EXPECT_THAT(dead({.error_class = "TimeoutError", .fingerprint = *event(payload).fingerprint}), IsEmpty());
}

TEST_P(TriageContract, TextIsTakenLiterallyAndWhateverItsCase) {
  const Uuid percent = failed_with("the disk is 100% FULL");
  const Uuid underscore = failed_with("column user_id is missing");
  failed_with("the disk is 100 times full");
  failed_with("column userXid is missing");
  EXPECT_THAT(dead({.text = "100%"}), ElementsAre(percent));
  EXPECT_THAT(dead({.text = "user_id"}), ElementsAre(underscore));
  EXPECT_THAT(dead({.text = "DISK IS 100% full"}), ElementsAre(percent));
  EXPECT_THAT(dead({.text = R"(\)"}), IsEmpty());
}

TEST_P(TriageContract, ByTimeOfFailure) {
  const Uuid old = failed_event();
  age(1h);
  const Uuid recent = failed_event();
  const Timestamp at = *event(recent).failed_at;
  EventFilter since;
  since.since = at;
  EXPECT_THAT(dead(since), ElementsAre(recent));
  EventFilter until;
  until.until = at;
  EXPECT_THAT(dead(until), ElementsAre(old));
  until.since = at - 2h;
  EXPECT_THAT(dead(until), ElementsAre(old));
  // A cursor does not lift the bound.
  EXPECT_THAT(must(store().list_dead(until, 10, DeadCursor{at + 1h, 1})).events, SizeIs(1));
  EXPECT_THAT(must(store().list_dead({}, 10, DeadCursor{at, event(recent).seq})).events, SizeIs(1));
}

TEST_P(TriageContract, ListsOfEventsKnowTheSameFilter) {
  NewEvent keyed = an_event();
  keyed.ordering_key = "customer-7";
  const Uuid id = failed_with("the disk is 100% full", keyed, "DiskError");
  failed_with("something else");
  for (const std::optional<Status> status : {std::optional<Status>{}, std::optional{Status::failed}}) {
    const auto listed = [&](EventFilter filter) {
      filter.status = status;
      std::vector<Uuid> found;
      for (const auto& each : must(store().list_events(filter, 10, {})).events) {
        found.push_back(each.envelope.event_id());
      }
      return found;
    };
    EXPECT_THAT(listed({.id = id}), ElementsAre(id));
    EXPECT_THAT(listed({.error_class = "DiskError"}), ElementsAre(id));
    EXPECT_THAT(listed({.fingerprint = *event(id).fingerprint}), ElementsAre(id));
    EXPECT_THAT(listed({.ordering_key = "customer-7"}), ElementsAre(id));
    EXPECT_THAT(listed({.text = "100% F"}), ElementsAre(id));
    EXPECT_THAT(listed({.text = "100_"}), IsEmpty());
    ASSERT_THAT(must(store().list_events({.id = id}, 1, {})).events, SizeIs(1));
    EXPECT_EQ(must(store().list_events({.id = id}, 1, {})).events[0].failed_at, event(id).failed_at);
  }
}

TEST_P(TriageContract, AnEventThatFailedByHandIsADeadLetterToo) {
  raw_sql(
      "insert into {outbox} (event_type, source, generation, payload, status, last_error) "
      "values ('test.imported', 'tests', 1, '{}', 'failed', 'it was so before')");
  const Uuid reported = publish();
  const auto relayed = claim(request_for("host/relay:1"));
  ASSERT_THAT(relayed, SizeIs(1));
  deliver(relayed.front());
  raw_sql("update {outbox} set status = 'failed' where id = '" + reported.to_string() + "'");
  EXPECT_THAT(dead(), SizeIs(2));
  ASSERT_TRUE(event(reported).failed_at);
  EXPECT_GT(*event(reported).failed_at, must(store().now()) - 1min);
  const auto imported = groups({.event_type = "test.imported"});
  ASSERT_THAT(imported, SizeIs(1));
  EXPECT_EQ(imported[0].error_class, "Error");
  EXPECT_EQ(imported[0].fingerprint, "");
  EXPECT_EQ(imported[0].sample_error, "it was so before");
  EXPECT_THAT(groups({.error_class = "Error"}), SizeIs(2));
}

TEST_P(TriageContract, GroupsAreByKindAndTheMostNumerousFirst) {
  EnvelopeDraft targeted = a_draft();
  targeted.target = "worlds";
  failed_with("amount is missing", an_event(targeted));
  const Uuid first = failed_with("order 17 is unknown");
  const Uuid second = failed_with("order 18 is unknown");  // the same but for a number
  const auto found = groups();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].count, 2);
  EXPECT_EQ(found[0].event_type, "test.happened");
  EXPECT_EQ(found[0].source, "tests");
  EXPECT_EQ(found[0].target, std::nullopt);
  EXPECT_EQ(found[0].error_class, "PayloadError");
  EXPECT_EQ(found[0].fingerprint, event(first).fingerprint);
  EXPECT_EQ(found[0].sample_error, event(first).last_error);
  EXPECT_EQ(found[0].first_failed_at, event(first).failed_at);
  EXPECT_EQ(found[0].last_failed_at, event(second).failed_at);
  EXPECT_EQ(found[0].first_generation, 1);
  EXPECT_EQ(found[0].last_generation, 1);
  EXPECT_LE(found[0].first_seen_at, found[0].first_failed_at);
  EXPECT_EQ(found[0].replayed, 0);
  EXPECT_EQ(found[0].acknowledged_at, std::nullopt);
  EXPECT_EQ(found[0].came_back, 0);
  EXPECT_EQ(found[0].came_back_generation, std::nullopt);
  EXPECT_EQ(found[1].count, 1);
  EXPECT_EQ(found[1].target, "worlds");
}

TEST_P(TriageContract, GroupsOfOneSizeAreByTheirLastFailure) {
  failed_with("amount is missing");
  failed_with("no answer", an_event(), "TimeoutError");
  const auto found = groups();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].error_class, "TimeoutError");
}

TEST_P(TriageContract, AGroupCountsWhatMatchesTheFilter) {
  failed_with("order 17 is unknown");
  age(1h);
  const Uuid recent = failed_with("order 18 is unknown");
  EventFilter filter;
  filter.since = event(recent).failed_at;
  ASSERT_THAT(groups(filter), SizeIs(1));
  EXPECT_EQ(groups(filter)[0].count, 1);
  EXPECT_EQ(groups(filter)[0].first_failed_at, event(recent).failed_at);
  EXPECT_EQ(groups({.text = "17"}).at(0).count, 1);
  EXPECT_THAT(groups({.text = "19"}), IsEmpty());
  EXPECT_THAT(groups({.source = "elsewhere"}), IsEmpty());
}

TEST_P(TriageContract, AGroupWithoutDeadLettersIsNotShownButRemembered) {
  const Uuid id = failed_event();
  const Timestamp first_seen = groups().at(0).first_seen_at;
  must(store().replay(id, 2, operator_alice()));
  EXPECT_THAT(groups(), IsEmpty());
  ClaimRequest request = request_for("w2");
  request.generation = 2;
  settle(claim(request).at(0), Outcome::failed(terminal_failure()));
  const auto found = groups();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].first_seen_at, first_seen);
  EXPECT_EQ(found[0].replayed, 1);
  EXPECT_EQ(found[0].first_generation, 2);
  EXPECT_GT(found[0].first_failed_at, first_seen);
  must(store().discard(id, operator_alice()));
  EXPECT_THAT(groups(), IsEmpty());
}

TEST_P(TriageContract, AnAcknowledgedGroupSaysWhoKnowsIt) {
  const Uuid id = failed_event();
  const std::string fingerprint = *event(id).fingerprint;
  EXPECT_EQ(must(store().acknowledge(fingerprint, true, operator_alice())), 1);
  auto found = groups();
  ASSERT_THAT(found, SizeIs(1));
  ASSERT_TRUE(found[0].acknowledged_at);
  EXPECT_GE(*found[0].acknowledged_at, found[0].last_failed_at);
  EXPECT_EQ(found[0].acknowledged_by, "alice@example.com");
  EXPECT_EQ(found[0].acknowledged_reason, "the upstream is back");
  EXPECT_EQ(found[0].came_back, 0);
  EXPECT_EQ(must(store().acknowledge(fingerprint, false, operator_alice())), 1);
  found = groups();
  EXPECT_EQ(found.at(0).acknowledged_at, std::nullopt);
  EXPECT_EQ(found.at(0).acknowledged_by, "");
  EXPECT_EQ(found.at(0).acknowledged_reason, "");
}

TEST_P(TriageContract, WhatFailsAfterTheAcknowledgementCameBack) {
  const Uuid old = failed_event();
  const Uuid again = failed_event();
  must(store().acknowledge(*event(old).fingerprint, true, operator_alice()));
  must(store().replay(again, 2, operator_alice()));
  ClaimRequest request = request_for("w2");
  request.generation = 2;
  settle(claim(request).at(0), Outcome::failed(terminal_failure()));
  auto found = groups();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].count, 2);
  EXPECT_EQ(found[0].came_back, 1);
  EXPECT_EQ(found[0].came_back_generation, 2);
  EXPECT_EQ(found[0].first_generation, 1);
  EXPECT_EQ(found[0].last_generation, 2);
  EXPECT_EQ(groups({.generation = 1}).at(0).came_back, 0);
  must(store().acknowledge(*event(old).fingerprint, true, operator_alice()));
  found = groups();
  EXPECT_EQ(found.at(0).came_back, 0);
  EXPECT_EQ(found.at(0).came_back_generation, std::nullopt);
}

TEST_P(TriageContract, AnAcknowledgementIsForEveryGroupOfTheFingerprintAndAudited) {
  const Uuid id = failed_event(an_event("test.first"));
  failed_event(an_event("test.second"));
  const std::string fingerprint = *event(id).fingerprint;
  EXPECT_EQ(must(store().acknowledge(fingerprint, true, operator_alice())), 2);
  must(store().acknowledge(fingerprint, false, operator_alice()));
  const auto audit = must(store().audit({}, 10, {}));
  ASSERT_THAT(audit, SizeIs(2));
  EXPECT_EQ(audit[1].action, "acknowledge");
  EXPECT_EQ(audit[1].count, 2);
  EXPECT_EQ(audit[1].actor.reason, "the upstream is back");
  EXPECT_THAT(audit[1].detail, HasSubstr(fingerprint));
  EXPECT_EQ(audit[0].action, "unacknowledge");
}

TEST_P(TriageContract, AcknowledgedDeadLettersAreNotCountedAsOpen) {
  EXPECT_EQ(must(store().count_unacknowledged(10)), 0);
  const Uuid known = failed_event(an_event("test.first"));
  const Uuid again = failed_event(an_event("test.first"));
  const Uuid other = failed_with("of its own", an_event("test.second"), "OtherError");
  EXPECT_EQ(must(store().count_unacknowledged(10)), 3);
  EXPECT_EQ(must(store().count_unacknowledged(2)), 2);
  must(store().acknowledge(*event(known).fingerprint, true, operator_alice()));
  EXPECT_EQ(must(store().count_unacknowledged(10)), 1);
  EXPECT_EQ(must(store().count_dead({}, 10)), 3);
  // It came back: that is news.
  must(store().replay(again, 2, operator_alice()));
  ClaimRequest request = request_for("w2");
  request.generation = 2;
  settle(claim(request).at(0), Outcome::failed(terminal_failure()));
  EXPECT_EQ(must(store().count_unacknowledged(10)), 2);
  must(store().discard(other, operator_alice()));
  EXPECT_EQ(must(store().count_unacknowledged(10)), 1);
}

TEST_P(TriageContract, FingerprintsAreFoundByTheirBeginning) {
  const std::string first = *event(failed_event(an_event("test.first"))).fingerprint;
  failed_event(an_event("test.second"));  // the same failure of another type
  const std::string second = *event(failed_with("of its own", an_event(), "OtherError")).fingerprint;
  ASSERT_NE(first.substr(0, 4), second.substr(0, 4));
  EXPECT_THAT(must(store().fingerprints(first.substr(0, 8), 10)), ElementsAre(first));
  EXPECT_THAT(must(store().fingerprints(first, 10)), ElementsAre(first));
  EXPECT_THAT(must(store().fingerprints("", 10)), UnorderedElementsAre(first, second));
  EXPECT_THAT(must(store().fingerprints("", 1)), SizeIs(1));
  EXPECT_THAT(must(store().fingerprints("%", 10)), IsEmpty());
  EXPECT_THAT(must(store().fingerprints("never seen", 10)), IsEmpty());
}

TEST_P(TriageContract, AnAcknowledgementNeedsAReasonAndAKnownFingerprint) {
  const Uuid id = failed_event();
  Actor silent = operator_alice();
  silent.reason.clear();
  const auto refused = store().acknowledge(*event(id).fingerprint, true, silent);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_EQ(refused.error().field, "reason");
  EXPECT_EQ(store().acknowledge("never seen", true, operator_alice()).error().code, ErrorCode::not_found);
  EXPECT_THAT(must(store().audit({}, 10, {})), IsEmpty());
}

}  // namespace
}  // namespace sluice::contract
