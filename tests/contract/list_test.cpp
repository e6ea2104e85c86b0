#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::EventFilter;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using testing::SizeIs;

class ListContract : public StoreContract {
 protected:
  std::vector<Uuid> list(const EventFilter& filter, int limit = 100) {
    std::vector<Uuid> found;
    for (const EventRecord& record : must(store().list_events(filter, limit, {})).events) {
      found.push_back(record.envelope.event_id());
    }
    return found;
  }
};

SLUICE_OVER_EVERY_STORE(ListContract);

TEST_P(ListContract, NewestFirst) {
  const auto published = publish(events(4));
  EXPECT_THAT(list({}), ElementsAreArray(published.rbegin(), published.rend()));
}

TEST_P(ListContract, PagesMeetWithoutGapOrOverlap) {
  const auto published = publish(events(7));
  std::vector<Uuid> seen;
  std::optional<std::int64_t> before;
  int pages = 0;
  do {
    const auto page = must(store().list_events({}, 3, before));
    EXPECT_LE(page.events.size(), 3U);
    for (const EventRecord& record : page.events) seen.push_back(record.envelope.event_id());
    if (pages == 0) publish();  // what arrives meanwhile is newer and must not shift the pages
    before = page.next;
  } while (before && ++pages < 10);
  EXPECT_THAT(seen, ElementsAreArray(published.rbegin(), published.rend()));
}

TEST_P(ListContract, TheLastFullPageHasNoNext) {
  publish(events(3));
  EXPECT_EQ(must(store().list_events({}, 3, {})).next, std::nullopt);
  EXPECT_NE(must(store().list_events({}, 2, {})).next, std::nullopt);
}

TEST_P(ListContract, HeadsComeWithoutTheirPayloads) {
  const Uuid id = publish();
  const std::string payload = event(id).envelope.payload();
  ASSERT_NE(payload, "null");
  for (const std::optional<Status> status : {std::optional<Status>{}, std::optional{Status::pending}}) {
    const auto heads = must(store().list_events({.status = status, .heads_only = true}, 10, {})).events;
    ASSERT_THAT(heads, SizeIs(1));
    EXPECT_EQ(heads[0].envelope.payload(), "null");
    EXPECT_EQ(heads[0].envelope.event_type(), event(id).envelope.event_type());
    EXPECT_EQ(heads[0].unreadable, std::nullopt) << "it was not asked for";
    EXPECT_EQ(must(store().list_events({.status = status}, 10, {})).events[0].envelope.payload(), payload);
  }
}

TEST_P(ListContract, HeadsOfDeadLettersComeWithoutTheirPayloads) {
  const Uuid id = failed_event();
  for (EventFilter filter : {EventFilter{}, EventFilter{.error_class = event(id).error_class.value()}}) {
    EXPECT_EQ(must(store().list_dead(filter, 10, {})).events.at(0).envelope.payload(), event(id).envelope.payload());
    filter.heads_only = true;
    const auto head = must(store().list_dead(filter, 10, {})).events.at(0);
    EXPECT_EQ(head.envelope.payload(), "null");
    EXPECT_EQ(head.last_error, event(id).last_error);
    EXPECT_EQ(head.unreadable, std::nullopt);
  }
}

TEST_P(ListContract, ByStatus) {
  const Uuid failed = failed_event();
  const Uuid delivered = delivered_event();
  const Uuid in_flight = publish();
  claim_one();
  const Uuid pending = publish();
  EXPECT_THAT(list({.status = Status::failed}), ElementsAre(failed));
  EXPECT_THAT(list({.status = Status::delivered}), ElementsAre(delivered));
  EXPECT_THAT(list({.status = Status::in_flight}), ElementsAre(in_flight));
  EXPECT_THAT(list({.status = Status::pending}), ElementsAre(pending));
}

TEST_P(ListContract, ByStatusWhereverTheEventsGo) {
  EXPECT_THAT(list({.status = Status::pending}), IsEmpty());
  const Uuid old = publish(an_event("nobody.wants_it"));
  ClaimRequest wanted = request_for("w1");
  wanted.interests = {{"test.*", std::nullopt, std::nullopt}};
  for (int round = 0; round < 3; ++round) {
    const Uuid id = publish();
    EXPECT_THAT(list({.status = Status::pending}), ElementsAre(id, old)) << round;
    const auto claimed = claim(wanted);
    ASSERT_THAT(claimed, SizeIs(1));
    EXPECT_THAT(list({.status = Status::pending}), ElementsAre(old)) << round;
    EXPECT_THAT(list({.status = Status::in_flight}), ElementsAre(id)) << round;
    settle(claimed.front(), Outcome::failed(timeout_failure()), minute_retries());
    EXPECT_THAT(list({.status = Status::pending}), ElementsAre(id, old)) << round;
    EXPECT_THAT(list({.status = Status::in_flight}), IsEmpty()) << round;
    age(2min);
    deliver(claim(wanted).front());
  }
  EXPECT_THAT(list({.status = Status::pending, .event_type = "test.*"}), IsEmpty());
  EXPECT_THAT(list({.status = Status::pending, .event_type = "nobody.*"}), ElementsAre(old));
}

TEST_P(ListContract, PendingEventsAndEventsInFlightPageToo) {
  const auto published = publish(events(5));
  for (const Status status : {Status::pending, Status::in_flight}) {
    const auto first = must(store().list_events({.status = status}, 3, {}));
    ASSERT_THAT(first.events, SizeIs(3));
    EXPECT_EQ(first.events[0].envelope.event_id(), published[4]);
    const auto second = must(store().list_events({.status = status}, 3, first.next));
    ASSERT_THAT(second.events, SizeIs(2));
    EXPECT_EQ(second.events[1].envelope.event_id(), published[0]);
    EXPECT_EQ(second.next, std::nullopt);
    claim();
  }
}

TEST_P(ListContract, FailedEventsPageToo) {
  std::vector<Uuid> failed;
  for (int n = 0; n < 5; ++n) {
    failed.push_back(failed_event());
    delivered_event();
  }
  const auto first = must(store().list_events({.status = Status::failed}, 3, {}));
  ASSERT_THAT(first.events, SizeIs(3));
  EXPECT_EQ(first.events[0].envelope.event_id(), failed[4]);
  const auto second = must(store().list_events({.status = Status::failed}, 3, first.next));
  ASSERT_THAT(second.events, SizeIs(2));
  EXPECT_EQ(second.events[1].envelope.event_id(), failed[0]);
  EXPECT_EQ(second.next, std::nullopt);
}

TEST_P(ListContract, TombstonesOnlyWhenAskedFor) {
  const Uuid id = failed_event();
  must(store().discard(id, operator_alice()));
  EXPECT_THAT(list({}), IsEmpty());
  EXPECT_THAT(list({.include_deleted = true}), ElementsAre(id));
}

TEST_P(ListContract, ByTypeExactOrPrefix) {
  const Uuid completed = publish(an_event("platform.scan.completed"));
  const Uuid started = publish(an_event("platform.scan.started"));
  publish(an_event("platform.scan_completed"));
  publish(an_event("billing.paid"));
  EXPECT_THAT(list({.event_type = "platform.scan.completed"}), ElementsAre(completed));
  EXPECT_THAT(list({.event_type = "platform.scan.*"}), ElementsAre(started, completed));
  EXPECT_THAT(list({.event_type = "*"}), SizeIs(4));
  EXPECT_THAT(list({.event_type = "platform.scan"}), IsEmpty());
}

TEST_P(ListContract, ByWhereItCameFromAndGoes) {
  EnvelopeDraft draft = a_draft();
  draft.source = "billing";
  draft.target = "worlds";
  draft.workspace_id = new_id();
  NewEvent special = an_event(draft);
  special.generation = 3;
  publish(std::vector{an_event(), special});
  EXPECT_THAT(list({.source = "billing"}), ElementsAre(draft.event_id));
  EXPECT_THAT(list({.target = "worlds"}), ElementsAre(draft.event_id));
  EXPECT_THAT(list({.generation = 3}), ElementsAre(draft.event_id));
  EXPECT_THAT(list({.workspace_id = draft.workspace_id}), ElementsAre(draft.event_id));
  EXPECT_THAT(list({.source = "billing", .target = "elsewhere"}), IsEmpty());
}

TEST_P(ListContract, ByTime) {
  std::vector<Uuid> published;
  for (const char* at : {"2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"}) {
    EnvelopeDraft draft = a_draft();
    draft.occurred_at = must(parse_iso8601(at));
    published.push_back(publish(an_event(draft)));
  }
  EventFilter filter;
  filter.since = must(parse_iso8601("2026-01-01T12:00:00Z"));
  EXPECT_THAT(list(filter), ElementsAre(published[2], published[1]));
  filter.until = must(parse_iso8601("2026-01-02T12:00:00Z"));
  EXPECT_THAT(list(filter), ElementsAre(published[1]));
}

TEST_P(ListContract, AnUnknownEventIsNotFound) {
  const auto missing = store().get_event(new_id());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(missing.error().retry, Retry::never);
}

TEST_P(ListContract, CountsByGenerationAndState) {
  delivered_event();
  failed_event();
  publish();
  claim_one();
  EnvelopeDraft old = a_draft();
  old.occurred_at = must(parse_iso8601("2026-01-01T00:00:00Z"));
  NewEvent delayed = an_event();
  delayed.delay = 1h;
  NewEvent newer = an_event();
  newer.generation = 2;
  publish(std::vector{an_event(old), an_event(), delayed, newer});
  const auto status = must(store().status());
  const auto count = [&](Generation generation, Status state) -> store::StatusCount {
    for (const auto& each : status.counts) {
      if (each.generation == generation && each.status == state) return each;
    }
    return {};
  };
  EXPECT_EQ(count(1, Status::pending).count, 3);
  EXPECT_EQ(count(1, Status::pending).waiting, 1);
  EXPECT_EQ(count(1, Status::pending).oldest, old.occurred_at);
  EXPECT_EQ(count(1, Status::in_flight).count, 1);
  EXPECT_EQ(count(1, Status::delivered).count, 1);
  EXPECT_EQ(count(1, Status::failed).count, 1);
  EXPECT_EQ(count(2, Status::pending).count, 1);
  EXPECT_EQ(count(2, Status::failed).count, 0);
  EXPECT_EQ(status.discarded, 0);
}

TEST_P(ListContract, CountsFollowTheEvents) {
  const auto count = [&](Status state) {
    std::int64_t events = 0;
    for (const auto& each : must(store().status()).counts) {
      EXPECT_FALSE(each.estimated);
      if (each.status == state) events += each.count;
    }
    return events;
  };
  publish(an_event("nobody.wants_it"));
  ClaimRequest wanted = request_for("w1");
  wanted.interests = {{"test.*", std::nullopt, std::nullopt}};
  for (int round = 1; round < 4; ++round) {
    publish(events(2));
    EXPECT_EQ(count(Status::pending), 3) << round;
    const auto claimed = claim(wanted);
    ASSERT_THAT(claimed, SizeIs(2));
    EXPECT_EQ(count(Status::pending), 1) << round;
    EXPECT_EQ(count(Status::in_flight), 2) << round;
    settle(claimed[0], Outcome::failed(timeout_failure()), minute_retries());
    EXPECT_EQ(count(Status::pending), 2) << round;
    deliver(claimed[1]);
    age(2min);
    deliver(claim(wanted).front());
    EXPECT_EQ(count(Status::pending), 1) << round;
    EXPECT_EQ(count(Status::in_flight), 0) << round;
    EXPECT_EQ(count(Status::delivered), 2 * round);
  }
  // Another process has not seen any of it.
  EXPECT_EQ(must(second_store()->status()).counts.back().count, 1);
}

TEST_P(ListContract, AnEventThatIsCommittedLateIsCounted) {
  auto unfinished = must(harness().begin_unfinished_publish(new_id()));
  if (!store().capabilities().embedded) delivered_event();
  const auto pending = [&] {
    std::int64_t events = 0;
    for (const auto& each : must(store().status()).counts) events += each.status == Status::pending ? each.count : 0;
    return events;
  };
  for (int round = 0; round < 3; ++round) EXPECT_EQ(pending(), 0) << round;
  must(unfinished->commit());
  EXPECT_EQ(pending(), 1);
  EXPECT_EQ(pending(), 1);
}

TEST_P(ListContract, OnlyDeadLettersAreDiscarded) {
  must(store().discard(failed_event(), operator_alice()));
  delivered_event();
  raw_sql("update {outbox} set deleted_at = {now} where status = 'delivered'");
  EXPECT_EQ(must(store().status()).discarded, 1);
  EXPECT_THAT(must(store().status()).counts, IsEmpty());
}

TEST_P(ListContract, AnEmptyStoreHasNoCounts) {
  const auto status = must(store().status());
  EXPECT_THAT(status.counts, IsEmpty());
  EXPECT_GT(status.now, must(store().now()) - 1min);
}

}  // namespace
}  // namespace sluice::contract
