#include "ops/event_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/error_json.hpp"
#include "ops/event_export.hpp"
#include "tests/support/event_record.hpp"

namespace sluice::ops {
namespace {

using testing::HasSubstr;
using testing::Not;

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
