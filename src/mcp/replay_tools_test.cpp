#include "mcp/tool_fixture.hpp"

namespace sluice::mcp {
namespace {

class ReplayToolsTest : public ToolFixture {
 protected:
  ReplayToolsTest() : ToolFixture({false, 2, 50}) {}
  static std::string arguments(int number) {
    return R"({"event_id":")" + test::id_of(number).to_string() + R"(","reason":"the provider is back"})";
  }
};

TEST_F(ReplayToolsTest, ReplaysUnderTheAgentsNameWithItsReason) {
  fail_some(1);
  const Answered replayed = call("replay_dlq_event", arguments(1));
  EXPECT_EQ(replayed.text("status"), "pending");
  EXPECT_EQ(replayed.raw("rows_left"), "1");
  const auto audit = test::must(store->audit_of(test::id_of(1)));
  ASSERT_EQ(audit.size(), 1U);
  EXPECT_EQ(audit.front().actor.name, "agent:tester (for alice@box)");
  EXPECT_EQ(audit.front().actor.surface, "mcp");
  EXPECT_EQ(audit.front().actor.reason, "the provider is back");
}

TEST_F(ReplayToolsTest, GoesToTheGenerationOfTheServerUnlessAnotherIsNamed) {
  fail_some(2);
  context.generation = 7;
  EXPECT_EQ(call("replay_dlq_event", arguments(1)).raw("to_generation"), "7");
  std::string other = arguments(2);
  other.insert(1, R"("to_generation":8,)");
  EXPECT_EQ(call("replay_dlq_event", other).raw("to_generation"), "8");
}

TEST_F(ReplayToolsTest, NeedsAReason) {
  fail_some(1);
  const Answered refused = call("replay_outbox_row", R"({"event_id":")" + test::id_of(1).to_string() + R"("})");
  EXPECT_EQ(refused.text("field"), "reason");
  EXPECT_EQ(test::must(store->get_event(test::id_of(1))).status, Status::failed);
}

TEST_F(ReplayToolsTest, TwiceIsAConflictAndCostsNothing) {
  fail_some(1);
  EXPECT_FALSE(call("replay_outbox_row", arguments(1)).failed);
  const Answered second = call("replay_dlq_event", arguments(1));
  EXPECT_EQ(second.text("code"), "conflict");
  EXPECT_NE(second.text("hint"), "");
  EXPECT_EQ(context.allowance.rows_left(), 1);
}

TEST_F(ReplayToolsTest, TheCapHolds) {
  fail_some(3);
  EXPECT_FALSE(call("replay_dlq_event", arguments(1)).failed);
  EXPECT_FALSE(call("replay_dlq_event", arguments(2)).failed);
  const Answered third = call("replay_dlq_event", arguments(3));
  EXPECT_EQ(third.text("code"), "forbidden");
  EXPECT_EQ(test::must(store->get_event(test::id_of(3))).status, Status::failed);
}

}  // namespace
}  // namespace sluice::mcp
