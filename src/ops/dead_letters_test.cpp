#include "ops/dead_letters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/audit.hpp"
#include "ops/event_json.hpp"
#include "ops/event_query.hpp"
#include "ops/event_watch.hpp"
#include "tests/support/embedded_store.hpp"

namespace sluice::ops {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const store::Actor kAlice{"alice", "cli", "upstream is back"};

class DeadLetters : public testing::Test {
 protected:
  void fail(int number, const std::string& message = "slow") {
    store_.publish(test::id_of(number));
    store_.fail(test::id_of(number), message);
    store_.now += seconds{1};
  }
  test::EmbeddedStore store_;
};

TEST_F(DeadLetters, PagesAreCompleteAndNewestFirst) {
  for (int number = 1; number <= 5; ++number) fail(number);
  std::vector<std::string> seen;
  ListRequest request;
  request.limit = 2;
  do {
    const auto page = test::must(list_dead(*store_, request));
    for (const auto& event : page.events) seen.push_back(event.envelope.event_id().to_string());
    request.cursor = page.next_cursor;
  } while (request.cursor);
  std::vector<std::string> expected;
  for (int number = 5; number >= 1; --number) expected.push_back(test::id_of(number).to_string());
  EXPECT_EQ(seen, expected);
}

TEST_F(DeadLetters, ABadCursorOrLimitIsNamed) {
  for (const char* cursor : {"", "x", "5", "5.", "5.x", ".5"}) {
    const auto page = list_dead(*store_, {{}, 10, cursor});
    ASSERT_FALSE(page) << cursor;
    EXPECT_EQ(page.error().field, "cursor");
  }
  EXPECT_EQ(list_dead(*store_, {{}, 0, std::nullopt}).error().field, "limit");
}

TEST_F(DeadLetters, ACountStopsAtItsCap) {
  for (int number = 1; number <= 3; ++number) fail(number);
  EXPECT_EQ(to_json(test::must(count_dead(*store_, {}, 10))), R"({"count":3,"capped":false})");
  EXPECT_EQ(to_json(test::must(count_dead(*store_, {}, 2))), R"({"count":2,"capped":true})");
}

TEST_F(DeadLetters, AGroupIsOpenThenKnownThenBack) {
  fail(1);
  auto groups = test::must(store_->failure_groups({}));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(state_of(groups[0]), "open");
  test::must(store_->acknowledge(groups[0].fingerprint, true, kAlice));
  store_.now += seconds{1};
  groups = test::must(store_->failure_groups({}));
  EXPECT_EQ(state_of(groups[0]), "acknowledged");
  fail(2);
  groups = test::must(store_->failure_groups({}));
  EXPECT_EQ(state_of(groups[0]), "came_back");
  EXPECT_THAT(to_json(groups), AllOf(HasSubstr(R"("came_back":1,"came_back_generation":1)"),
                                     HasSubstr(R"(}],"count":2})"), HasSubstr(R"("acknowledged_by":"alice")")))
      << to_json(groups);
}

TEST_F(DeadLetters, TheTallySaysHowManyAreAcknowledged) {
  EXPECT_EQ(in_words(test::must(tally_dead(*store_, 10))), "0 dead letters");
  for (int number = 1; number <= 4; ++number) fail(number);
  EXPECT_EQ(in_words(test::must(tally_dead(*store_, 10))), "4 dead letters");
  test::must(acknowledge(*store_, test::must(store_->failure_groups({})).at(0).fingerprint, true, kAlice));
  store_.now += seconds{1};
  fail(5);
  const DeadTally tally = test::must(tally_dead(*store_, 10));
  EXPECT_EQ(tally.unacknowledged, 1);
  EXPECT_EQ(in_words(tally), "5 dead letters, 4 acknowledged");
  EXPECT_EQ(in_words(test::must(tally_dead(*store_, 3))), "at least 3 dead letters, 1 not acknowledged");
}

TEST_F(DeadLetters, AFingerprintMayBeGivenByItsBeginning) {
  fail(1);
  fail(2, "another thing entirely");
  store_.sql("update failure_groups set fingerprint = '5f1c0a9be2d47c3' || id");
  store_.sql("update outbox set fingerprint = '5f1c0a9be2d47c3' || group_id");
  const auto groups = test::must(store_->failure_groups({}));
  ASSERT_EQ(groups.size(), 2U);
  const std::string whole = groups[0].fingerprint;
  for (const char* shared : {"5", "5f1c0a9b", "5f1c0a9be2d47c3"}) {
    const auto refused = test::must(EventQuery::parse(std::string{"fp:"} + shared)).filter(*store_);
    ASSERT_FALSE(refused) << shared;
    EXPECT_EQ(refused.error().field, "filter");
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr("begins several fingerprints"), HasSubstr(whole)));
    EXPECT_EQ(acknowledge(*store_, shared, true, kAlice).error().field, "fingerprint");
  }
  store_.sql("update failure_groups set fingerprint = 'aaaaaaaa' || substr(fingerprint, 9) where fingerprint <> '" +
             whole + "'");
  EXPECT_EQ(test::must(test::must(EventQuery::parse("fp:5f1c0a9b")).filter(*store_)).fingerprint, whole);
  EXPECT_EQ(test::must(test::must(EventQuery::parse("fp:" + whole)).filter(*store_)).fingerprint, whole);
  EXPECT_EQ(test::must(test::must(EventQuery::parse("fp:77")).filter(*store_)).fingerprint, "77") << "matches nothing";
  const Acknowledged done = test::must(acknowledge(*store_, "5f1c0a9b", true, kAlice));
  EXPECT_EQ(done.fingerprint, whole);
  EXPECT_EQ(done.groups, 1);
  EXPECT_EQ(acknowledge(*store_, "77", true, kAlice).error().code, ErrorCode::not_found);
}

TEST_F(DeadLetters, OneReplayNeedsAReasonAndADeadLetter) {
  fail(1);
  EXPECT_EQ(replay_event(*store_, test::id_of(1), {}, {"alice", "cli", ""}).error().field, "reason");
  const auto report = test::must(replay_event(*store_, test::id_of(1), {}, kAlice));
  EXPECT_EQ(report.cycle, 1);
  EXPECT_EQ(replay_event(*store_, test::id_of(1), {}, kAlice).error().code, ErrorCode::conflict);
  EXPECT_EQ(replay_event(*store_, test::id_of(9), {}, kAlice).error().code, ErrorCode::not_found);
  EXPECT_THAT(to_json(report), HasSubstr(R"("status":"pending","cycle":1)"));
}

TEST_F(DeadLetters, TheAuditIsPagedNewestFirst) {
  for (int number = 1; number <= 3; ++number) {
    fail(number);
    test::must(replay_event(*store_, test::id_of(number), {}, kAlice));
  }
  AuditRequest request;
  request.limit = 2;
  const auto first = test::must(list_audit(*store_, request));
  ASSERT_EQ(first.records.size(), 2U);
  EXPECT_EQ(first.records[0].event_id, test::id_of(3));
  request.cursor = first.next_cursor;
  const auto second = test::must(list_audit(*store_, request));
  ASSERT_EQ(second.records.size(), 1U);
  EXPECT_FALSE(second.next_cursor);
  request.cursor = "x";
  EXPECT_EQ(list_audit(*store_, request).error().field, "cursor");
}

TEST_F(DeadLetters, ATailTellsWhatIsNewAndWhatHasChanged) {
  fail(1);
  fail(2);
  EventTail tail{{}};
  EXPECT_EQ(test::must(tail.next(*store_, 1)).size(), 1U);
  EXPECT_THAT(test::must(tail.next(*store_, 1)), IsEmpty());
  store_.publish(test::id_of(3));
  test::must(replay_event(*store_, test::id_of(1), {}, kAlice));
  const auto changed = test::must(tail.next(*store_, 1));
  ASSERT_EQ(changed.size(), 2U);
  EXPECT_EQ(changed[0].envelope.event_id(), test::id_of(1));
  EXPECT_EQ(changed[1].envelope.event_id(), test::id_of(3));
}

TEST(EventExport, HidesWhatThePolicySays) {
  store::EventRecord event = test::a_record(test::id_of(1));
  EnvelopeDraft draft = test::a_draft_of(test::id_of(1));
  draft.payload = R"({"email":"a@b.c","n":9007199254740993})";
  event.envelope = EventEnvelope::trusted(std::move(draft));
  event.last_error = "Error: user 'ann' is unknown";
  const std::string fields = export_json(event, {});
  EXPECT_THAT(fields, AllOf(HasSubstr(R"("email":"[redacted]","n":9007199254740993)"), HasSubstr("'ann'")));
  const std::string values = export_json(event, {RedactionPolicy::Mode::values, {}});
  EXPECT_THAT(values, AllOf(HasSubstr(R"("n":"[redacted]")"), Not(HasSubstr("'ann'"))));
}

TEST(EventExport, AReproIsAFixtureAndATestThatReadsIt) {
  store::EventRecord event = test::a_record(test::id_of(1), "billing.invoice-paid");
  event.last_error = "Error: first line\nsecond line \\";
  event.attempts = 1;
  const Repro repro = make_repro(event, {});
  EXPECT_THAT(repro.name, testing::StartsWith("billing_invoice_paid_"));
  const auto envelope = EventEnvelope::from_json(repro.fixture);
  ASSERT_TRUE(envelope) << envelope.error().message;
  EXPECT_EQ(envelope->event_id(), test::id_of(1));
  EXPECT_THAT(repro.test, AllOf(HasSubstr("TEST(Repro, " + repro.name + ")"), HasSubstr(repro.name + ".json"),
                                HasSubstr("//   Error: first line second line"), HasSubstr("after 1 attempt with")));
}

using namespace std::chrono_literals;
using testing::SizeIs;

const store::Actor kAnn{"ann", "cli", "the provider works on it"};

TEST(HistogramGrid, HasAtMostSixtyStretchesFromTheFirstFailureToNow) {
  const Timestamp first{std::chrono::hours{1000} + 7s};
  for (const Duration span :
       {Duration{0}, Duration{9s}, Duration{10min}, Duration{3h}, Duration{50h}, Duration{24h * 40}}) {
    const auto grid = histogram_grid(first, first + span);
    EXPECT_LE(grid.stretches, kMostStretches);
    EXPECT_GE(grid.stretches, 1);
    EXPECT_LE(grid.from, first);
    EXPECT_GT(grid.until(), first + span) << "the last failure is inside";
    EXPECT_EQ(grid.from.time_since_epoch() % grid.step, Duration{0}) << "it begins where people count from";
  }
  EXPECT_EQ(histogram_grid(first, first + 3h).step, Duration{5min});
  EXPECT_EQ(histogram_grid(first, first - 1h).stretches, 1) << "a clock that was set back";
}

class GroupStoryTest : public testing::Test {
 protected:
  std::string fail(int number) {
    store_.publish(test::id_of(number));
    store_.fail(test::id_of(number), "slow");
    store_.now += 60s;
    return *test::must(store_->get_event(test::id_of(number))).fingerprint;
  }
  test::EmbeddedStore store_;
};

TEST_F(GroupStoryTest, TellsWhenItFailedAndWhatPeopleSaid) {
  const std::string fingerprint = fail(1);
  for (int number = 2; number <= 12; ++number) fail(number);
  test::must(note_group(*store_, fingerprint.substr(0, 6), kAnn, "ticket 4711"));
  test::must(acknowledge(*store_, fingerprint, true, kAnn));
  const auto story = test::must(tell_group(*store_, fingerprint.substr(0, 6)));
  EXPECT_EQ(story.fingerprint, fingerprint);
  std::int64_t counted = 0;
  for (const std::int64_t stretch : story.histogram) counted += stretch;
  EXPECT_EQ(counted, 12);
  ASSERT_THAT(story.samples, SizeIs(10));
  EXPECT_EQ(story.samples.front().envelope.event_id(), test::id_of(12)) << "the newest first";
  EXPECT_EQ(story.samples.front().envelope.payload(), "null");
  ASSERT_THAT(story.comments, SizeIs(2));
  EXPECT_EQ(story.comments[0].action, "acknowledge");
  EXPECT_EQ(story.comments[1].actor.reason, "ticket 4711");
  EXPECT_THAT(to_json(story), HasSubstr(R"("count":12,"groups":[{)"));
}

TEST_F(GroupStoryTest, AGroupWithoutDeadLettersKeepsItsNotes) {
  const std::string fingerprint = fail(1);
  test::must(note_group(*store_, fingerprint, kAnn, "ticket 4711"));
  test::must(store_->discard(test::id_of(1), kAnn));
  const auto story = test::must(tell_group(*store_, fingerprint));
  EXPECT_THAT(story.groups, IsEmpty());
  EXPECT_THAT(story.comments, SizeIs(1));
  EXPECT_THAT(to_json(story), HasSubstr(R"("histogram":null)"));
}

TEST_F(GroupStoryTest, WhatNeverFailedAndAnEmptyNoteAreRefused) {
  EXPECT_EQ(tell_group(*store_, "0123456789abcdef").error().code, ErrorCode::not_found);
  const std::string fingerprint = fail(1);
  const auto empty = note_group(*store_, fingerprint, kAnn, " ");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().field, "text");
  EXPECT_THAT(empty.error().message, HasSubstr("text is required"));
  EXPECT_EQ(note_group(*store_, "0123456789abcdef", kAnn, "x").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace sluice::ops
