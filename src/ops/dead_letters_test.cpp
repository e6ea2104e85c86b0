#include "ops/dead_letters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/audit.hpp"
#include "ops/event_export.hpp"
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

}  // namespace
}  // namespace sluice::ops
