#include "ops/event_change.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/dead_letters.hpp"
#include "ops/event_query.hpp"
#include "tests/support/embedded_store.hpp"
#include "tests/support/recording_tracer.hpp"

namespace sluice::ops {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const store::Actor kCaller{"alice@example.com", "cli", "the upstream is back"};

class EventChangeTest : public testing::Test {
 protected:
  Uuid published(int number = 1) {
    store.publish(test::id_of(number));
    return test::id_of(number);
  }
  Uuid failed(int number = 1) {
    const Uuid id = published(number);
    store.fail(id);
    return id;
  }
  test::EmbeddedStore store;
};

TEST_F(EventChangeTest, ActionsFollowTheState) {
  store::EventRecord event{.envelope = EventEnvelope::trusted({})};
  EXPECT_THAT(actions_of(event), ElementsAre("reschedule", "cancel")) << "it is due";
  event.retry_after = Timestamp{};
  EXPECT_THAT(actions_of(event), ElementsAre("run_now", "reschedule", "cancel"));
  event.status = Status::in_flight;
  EXPECT_THAT(actions_of(event), IsEmpty());
  event.status = Status::delivered;
  EXPECT_THAT(actions_of(event), ElementsAre("resend"));
  event.status = Status::failed;
  EXPECT_THAT(actions_of(event), ElementsAre("replay", "edit_replay", "discard"));
  event.deleted_at = Timestamp{};
  EXPECT_THAT(actions_of(event), ElementsAre("restore"));
  event.status = Status::pending;
  EXPECT_THAT(actions_of(event), ElementsAre("restore"));
}

TEST_F(EventChangeTest, ADurationCountsFromNow) {
  const auto moved = reschedule(*store, published(), "2h", kCaller);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->due, store.now + 2h);
  EXPECT_THAT(to_json(*moved), HasSubstr(R"("cancelled":false)"));
}

TEST_F(EventChangeTest, TheErrorNamesTheFlag) {
  const Uuid id = published();
  for (const std::string at : {"yesterday", "2001-01-01T00:00:00Z"}) {
    const auto refused = reschedule(*store, id, at, kCaller, "--at");
    ASSERT_FALSE(refused) << at;
    EXPECT_EQ(refused.error().field, "--at") << at;
  }
}

TEST_F(EventChangeTest, EverythingNeedsAReason) {
  const store::Actor silent{"alice", "cli", ""};
  const Uuid id = published();
  EXPECT_EQ(run_now(*store, id, silent).error().field, "reason");
  EXPECT_EQ(reschedule(*store, id, "2h", silent).error().field, "reason");
  EXPECT_EQ(cancel_event(*store, id, silent).error().field, "reason");
  EXPECT_EQ(resend_event(*store, {id, "a.b", {}}, silent).error().field, "reason");
  EXPECT_EQ(replay_to_handler(*store, {id, "a.b", {}}, silent).error().field, "reason");
  EXPECT_EQ(replay_edited(*store, {true, {}}, {id, "{}", {}, nullptr}, silent).error().field, "reason");
}

TEST_F(EventChangeTest, AResendLeavesARetiredGeneration) {
  for (const Generation generation : {1, 2}) {
    store.subscribe(generation, std::vector{Subscription{"a.handler", {"*"}, {}, {}}});
  }
  const Uuid id = published();
  store.deliver(id);
  EXPECT_EQ(test::must(resend_event(*store, {id, "a.handler", {}}, kCaller)).to_generation, 1);
  store.deliver(id);
  store.bring_generation(1, GenerationState::retired);
  store.bring_generation(2, GenerationState::live);
  EXPECT_EQ(resend_event(*store, {id, "a.handler", 1}, kCaller).error().code, ErrorCode::conflict);
  EXPECT_EQ(test::must(resend_event(*store, {id, "a.handler", {}}, kCaller)).to_generation, 2);
}

// Whatever has an event run again is in the event's own trace, and says when it could not.
TEST_F(EventChangeTest, WhatRunsAnEventAgainIsASpanOfItsTrace) {
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  test::RecordingTracer tracer;
  std::vector<bool> refused;
  const auto expect = [&](std::string_view name, const Result<store::ReplayReport>& report) {
    refused.push_back(!report);
    ASSERT_EQ(tracer.spans().size(), refused.size()) << name;
    const test::RecordedSpan span = tracer.spans().back();
    EXPECT_EQ(span.name, name);
    EXPECT_EQ(span.kind, SpanKind::producer);
    EXPECT_EQ(span.parent, trace);
    EXPECT_EQ(span.error_type.empty(), report.has_value()) << span.error_type;
    EXPECT_EQ(span.attributes.at("messaging.operation.type"), "send");
  };
  const auto dead = [&](int number) {
    const Uuid id = failed(number);
    store.sql("update outbox set trace_context = '" + trace + "' where id = '" + id.to_string() + "'");
    return id;
  };
  const Subscription wanted{.handler_name = "billing.meter"};
  store.subscribe(1, {wanted});
  const Uuid id = dead(1);
  const std::string type{test::must(store->get_event(id)).envelope.event_type()};
  expect("replay " + type, replay_event(*store, id, {}, kCaller, &tracer));
  expect("replay " + type, replay_event(*store, id, {}, kCaller, &tracer));
  for (const auto& event : store.claim_all()) store.settle(event, Outcome::handled());
  expect("resend " + type, resend_event(*store, {id, "billing.meter", {}}, kCaller, &tracer));
  expect("resend " + type, resend_event(*store, {id, "billing.meter", {}}, kCaller, &tracer));
  expect("replay " + type, replay_to_handler(*store, {dead(2), "billing.meter", {}}, kCaller, &tracer));
  expect("replay " + type, replay_edited(*store, {true, {}}, {dead(3), "{}", {}, nullptr}, kCaller, &tracer));
  EXPECT_THAT(refused, ElementsAre(false, true, false, true, false, false));
  EXPECT_EQ(tracer.spans().size(), 6U);
  EXPECT_FALSE(replay_event(*store, test::id_of(9), {}, kCaller, &tracer));
  EXPECT_EQ(tracer.spans().size(), 6U) << "an event that is not there has no trace";
}

TEST_F(EventChangeTest, AnEditIsOffByDefault) {
  const auto refused = replay_edited(*store, {}, {failed(), "{}", {}, nullptr}, kCaller);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::forbidden);
  EXPECT_THAT(refused.error().hint, HasSubstr("edit_replay = true"));
}

TEST_F(EventChangeTest, AnEditedPayloadIsCheckedLikeAPublish) {
  const Uuid id = failed();
  const EditPolicy small{true, {.payload_bytes = 20}};
  for (const std::string payload : {"[1]", "{", R"({"text":"longer than twenty bytes"})"}) {
    const auto refused = replay_edited(*store, small, {id, payload, {}, nullptr}, kCaller);
    ASSERT_FALSE(refused) << payload;
    EXPECT_EQ(refused.error().field, "payload") << payload;
  }
  EXPECT_EQ(store->get_event(id)->status, Status::failed);
}

TEST_F(EventChangeTest, AnEditObeysTheContract) {
  const Uuid id = failed();
  const std::string type = store->get_event(id)->envelope.event_type();
  Shape shape{ShapeKind::object};
  shape.properties.push_back({"n", {ShapeKind::string}, true});
  const auto contracts =
      ContractSet::read({{detail::contract_file_name(type, 1), detail::render_schema(type, 1, shape)}});
  ASSERT_TRUE(contracts) << contracts.error().message;
  const auto refused = replay_edited(*store, {true, {}}, {id, R"({"n":1})", {}, &*contracts}, kCaller);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "payload");
  EXPECT_TRUE(replay_edited(*store, {true, {}}, {id, R"({"n":"x"})", {}, &*contracts}, kCaller));
}

TEST_F(EventChangeTest, AnIdMayBeShort) {
  const Uuid id = published(1);
  const std::string text = id.to_string();
  EXPECT_EQ(*whole_id(*store, text, "ID"), id);
  EXPECT_EQ(*whole_id(*store, text.substr(0, 13), "ID"), id);
  published(2);
  const auto several = whole_id(*store, text.substr(0, 8), "ID");
  ASSERT_FALSE(several);
  EXPECT_THAT(several.error().message, HasSubstr(text));
  EXPECT_THAT(several.error().message, HasSubstr(test::id_of(2).to_string()));
  EXPECT_EQ(whole_id(*store, "ffffffff", "ID").error().code, ErrorCode::not_found);
  for (const std::string& bad : std::vector<std::string>{"1234567", "nonsense-that-is-long", text + "0"}) {
    EXPECT_EQ(whole_id(*store, bad, "ID").error().code, ErrorCode::invalid) << bad;
  }
}

}  // namespace
}  // namespace sluice::ops
