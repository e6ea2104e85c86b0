#include "ops/event_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.hpp"
#include "ops/arguments.hpp"
#include "tests/support/event_record.hpp"

namespace sluice::ops {
namespace {

using testing::HasSubstr;
using testing::Not;

// Field names are an interface: this test changes only when they are added to.
TEST(EventJson, TheFieldsOfARowArePinned) {
  EXPECT_EQ(
      to_json(test::a_record(test::id_of(1))),
      R"({"event_id":"0196b2f1-7c1e-7a3b-9d2e-000000000001","event_type":"demo.hello","event_version":1,)"
      R"("occurred_at":"2026-05-28T20:26:40.000000Z","source":"demo","target":null,"workspace_id":null,)"
      R"("payload":{"n": 12345678901234567890123},"idempotency_key":"0196b2f1-7c1e-7a3b-9d2e-000000000001",)"
      R"("trace_context":null,"status":"pending","generation":1,"channel":"outbox_gen_1","content_class":"default",)"
      R"("ordering_key":null,"attempts":0,"attempts_made":0,"last_error":null,"error_class":null,"fingerprint":null,)"
      R"("first_failed_at":null,"failure_history":[],"claimed_at":null,"claimed_by":null,"claim_seq":0,)"
      R"("retry_after":null,"published_at":"2026-05-28T20:26:40.000000Z","delivered_at":null,"failed_at":null,"deleted_at":null,"seq":1})");
}

TEST(EventJson, AListIsWellFormedWithAndWithoutACursor) {
  const EventList last{{test::a_record(test::id_of(1)), test::a_record(test::id_of(2))}, std::nullopt};
  EXPECT_TRUE(json::check(to_json(last), "list"));
  EXPECT_THAT(to_json(last), HasSubstr(R"("next_cursor":null)"));
  EXPECT_EQ(to_json(EventList{{}, "7"}), R"({"events":[],"next_cursor":"7"})");
}

TEST(EventJson, AStoryCarriesHandlersAuditAndTimeline) {
  const EventStory story{test::a_record(test::id_of(1)),
                         {{{"sluice.log", "key"}, Timestamp{}}},
                         {{4, Timestamp{}, {"alice", "cli", "why"}, "replay", std::nullopt, 1, R"({"cycle":1})"}},
                         {{Timestamp{}, "handled", "by sluice.log"}}};
  const std::string text = to_json(story);
  ASSERT_TRUE(json::check(text, "story"));
  EXPECT_THAT(text, HasSubstr(R"("handled":[{"handler_name":"sluice.log","idempotency_key":"key",)"));
  EXPECT_THAT(text, HasSubstr(R"("actor":"alice","surface":"cli","reason":"why","action":"replay","event_id":null)"));
  EXPECT_THAT(text, HasSubstr(R"("detail":{"cycle":1})"));
  EXPECT_THAT(text, HasSubstr(R"("what":"handled","detail":"by sluice.log")"));
}

TEST(EventJson, APublishedEventSaysItsOutcome) {
  store::NewEvent event{test::a_record(test::id_of(1)).envelope, 2, "outbox_gen_2", "default", {}, {}, {}};
  EXPECT_THAT(to_json(event, std::nullopt), HasSubstr(R"("outcome":"planned")"));
  EXPECT_THAT(to_json(event, store::PublishOutcome::published), HasSubstr(R"("outcome":"published")"));
  event.delay = std::chrono::milliseconds{2};
  const std::string text = to_json(event, store::PublishOutcome::duplicate);
  EXPECT_TRUE(json::check(text, "event"));
  EXPECT_THAT(text, HasSubstr(R"("delay_us":2000,"outcome":"duplicate")"));
}

const RedactionPolicy kFields{};
const RedactionPolicy kValues{RedactionPolicy::Mode::values, {}};

store::EventRecord a_dead_letter(const std::string& payload) {
  store::EventRecord event = test::a_record(test::id_of(1));
  event.envelope = with_payload(event.envelope, payload);
  event.status = Status::failed;
  event.attempts = 5;
  event.last_error = "TimeoutError: no answer for order 4711";
  event.claimed_at = test::kStart;
  return event;
}

TEST(EventView, ASummaryHasNoPayloadAndNoHistory) {
  const DeadList list{{a_dead_letter(R"({"order":4711})")}, "7.1"};
  const std::string json = summary_json(list, kFields);
  EXPECT_THAT(json, HasSubstr("no answer for order 4711"));
  EXPECT_THAT(json, HasSubstr(R"("next_cursor":"7.1")"));
  EXPECT_THAT(json, Not(HasSubstr("payload")));
  EXPECT_THAT(json, Not(HasSubstr("failure_history")));
}

TEST(EventView, ThePayloadBeforeAnEditIsRedactedToo) {
  store::EventRecord event = a_dead_letter(R"({"order":4711})");
  event.failure_history =
      R"([{"cycle":1,"last_error":"no answer","payload":{"email":"eve@example.org","order":4712}}])";
  const std::string json = redacted_json(EventStory{event, {}, {}, {}, {}}, kFields);
  EXPECT_THAT(json, AllOf(HasSubstr("4712"), HasSubstr("no answer"), Not(HasSubstr("eve@"))));
  EXPECT_THAT(export_json(event, kFields), Not(HasSubstr("eve@")));
}

TEST(EventView, WhereEveryValueIsPrivateErrorsLoseTheirsToo) {
  const store::EventRecord event = a_dead_letter(R"({"order":4711})");
  EXPECT_THAT(summary_json({{event}, std::nullopt}, kValues), Not(HasSubstr("4711")));
  EventStory story{event, {}, {}, timeline(event, {}, {}), {}};
  story.handlers.push_back({"shop.pay", HandlerState::State::waiting, {}, 1, {}, "no answer for order 4711"});
  EXPECT_THAT(redacted_json(story, kFields), HasSubstr("4711"));
  EXPECT_THAT(redacted_json(story, kValues), Not(HasSubstr("4711")));
}

TEST(EventView, AStoryKeepsItsMembersAroundTheRedactedPayload) {
  const EventStory story{a_dead_letter(R"({"order":1,"email":"ann@example.com"})"), {}, {}, {}, {}};
  const std::string json = redacted_json(story, kFields);
  EXPECT_THAT(json, HasSubstr(R"("payload":{"order":1,"email":"[redacted]"})"));
  EXPECT_THAT(json, HasSubstr(R"("payload_bytes":37,"payload_omitted":false)"));
}

TEST(EventView, APayloadThatIsTooLargeIsLeftOut) {
  const std::string large = R"({"text":")" + std::string(kViewPayloadBytes, 'x') + R"("})";
  const std::string json = redacted_json(EventStory{a_dead_letter(large), {}, {}, {}, {}}, kFields);
  EXPECT_THAT(json, HasSubstr(R"("payload":null)"));
  EXPECT_THAT(json, HasSubstr(R"("payload_omitted":true)"));
  EXPECT_LT(json.size(), 4096U);
}

TEST(EventView, TheMostNumerousGroupsAreShown) {
  std::vector<store::FailureGroup> groups(3);
  groups[0].count = 7;
  groups[0].sample_error = "no answer for order 4711";
  groups[1].count = 2;
  const std::string json = redacted_json({groups, 2}, kValues);
  EXPECT_THAT(json, HasSubstr(R"("count":9,"omitted":1)"));
  EXPECT_THAT(json, Not(HasSubstr("4711")));
}

TEST(ErrorJson, HasEveryField) {
  EXPECT_EQ(to_json(Error{ErrorCode::conflict, Retry::safe, "it moved", "id", "look again"}),
            R"({"error":{"code":"conflict","message":"it moved","field":"id","hint":"look again","retry":"safe"}})");
}

}  // namespace
}  // namespace sluice::ops
