#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mcp/tool_fixture.hpp"
#include "tests/support/recording_tracer.hpp"

namespace sluice::mcp {
namespace {

using testing::HasSubstr;

class EventToolsTest : public ToolFixture {
 protected:
  static std::string arguments(const std::string& more = "") {
    return R"({"event_id":")" + test::id_of(1).to_string() + R"(","reason":"the upstream is back")" + more + '}';
  }
};

TEST_F(EventToolsTest, APendingEventIsRescheduledRunAndCancelled) {
  store.publish(test::id_of(1));
  EXPECT_EQ(call("reschedule_event", arguments(R"(,"at":"2h")")).raw("cancelled"), "false");
  EXPECT_FALSE(call("run_event_now", arguments()).failed);
  const auto cancelled = call("cancel_event", arguments());
  EXPECT_EQ(cancelled.raw("cancelled"), "true");
  EXPECT_EQ(cancelled.raw("due"), "null");
  const auto audit = store->audit_of(test::id_of(1));
  ASSERT_EQ(audit->size(), 3U);
  EXPECT_EQ(audit->back().actor.surface, "mcp");
}

TEST_F(EventToolsTest, ADeadLetterIsNotCancelled) {
  fail_some(1);
  const auto refused = call("cancel_event", arguments());
  EXPECT_TRUE(refused.failed);
  EXPECT_EQ(refused.text("code"), "conflict");
}

TEST_F(EventToolsTest, AnEditIsOffUnlessAllowed) {
  fail_some(1);
  const std::string edit = arguments(R"(,"payload":{"amount":2})");
  EXPECT_EQ(call("edit_and_replay_event", edit).text("code"), "forbidden");
  context.edit.enabled = true;
  EXPECT_FALSE(call("edit_and_replay_event", edit).failed);
  EXPECT_THAT(store->get_event(test::id_of(1))->envelope.payload(), HasSubstr("amount"));
}

TEST_F(EventToolsTest, WhatAnAgentRunsAgainIsTraced) {
  fail_some(1);
  test::RecordingTracer tracer;
  context.tracer = &tracer;
  context.edit.enabled = true;
  call("replay_dlq_event", arguments(R"(,"handler":"no.body")"));
  call("edit_and_replay_event", arguments(R"(,"payload":{})"));
  call("replay_dlq_event", arguments());
  call("resend_event", arguments(R"(,"handler":"a.b")"));
  EXPECT_EQ(tracer.spans("replay").size(), 3U);
  EXPECT_EQ(tracer.spans("resend").size(), 1U);
}

TEST_F(EventToolsTest, AnUnknownHandlerIsNamed) {
  fail_some(1);
  const auto refused = call("replay_dlq_event", arguments(R"(,"handler":"no.body")"));
  EXPECT_EQ(refused.text("field"), "handler");
}

}  // namespace
}  // namespace sluice::mcp
