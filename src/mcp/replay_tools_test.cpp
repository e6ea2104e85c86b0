#include <gmock/gmock.h>

#include "mcp/tool_fixture.hpp"
#include "ops/operations.hpp"

namespace sluice::mcp {
namespace {

using testing::HasSubstr;

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

class PlanToolsTest : public ToolFixture {
 protected:
  PlanToolsTest() : ToolFixture({false, 5, 50}) {}

  Answered plan(const std::string& filter = "type:demo.*") {
    return call("plan_replay", R"({"filter":")" + filter + R"("})");
  }
  static std::string execution(const std::string& token, const std::string& more) {
    return R"({"token":")" + token + R"(","reason":"the provider is back")" + more + '}';
  }
};

TEST_F(PlanToolsTest, APlanFreezesTheSetAndChangesNoEvent) {
  fail_some(3);
  const Answered planned = plan();
  EXPECT_EQ(planned.raw("total"), "3");
  EXPECT_EQ(planned.text("state"), "planned");
  EXPECT_EQ(planned.text("token"), planned.text("operation_id"));
  EXPECT_EQ(member(planned.raw("preview"), "examined"), "3");
  EXPECT_EQ(planned.raw("rows_left"), "5");
  EXPECT_EQ(test::must(store->get_event(test::id_of(1))).status, Status::failed);
}

TEST_F(PlanToolsTest, WhereNothingMatchesThereIsNoToken) {
  const Answered planned = plan();
  EXPECT_EQ(planned.raw("total"), "0");
  EXPECT_EQ(planned.raw("token"), "null");
  EXPECT_EQ(planned.raw("preview"), "null");
}

TEST_F(PlanToolsTest, APlanThatIsLargerThanTheCapIsRefusedWithTheNumber) {
  fail_some(6);
  const Answered refused = plan();
  EXPECT_EQ(refused.text("code"), "forbidden");
  EXPECT_THAT(refused.text("message"), HasSubstr("6 events"));
  EXPECT_TRUE(test::must(store->operations(10)).empty());
}

TEST_F(PlanToolsTest, ExecutionStartsItIsAuditedAndIsCarriedOut) {
  fail_some(3);
  const std::string token = plan().text("token");
  const Answered started = call("execute_replay_plan", execution(token, R"(,"confirm_count":3)"));
  EXPECT_EQ(started.text("state"), "running");
  EXPECT_EQ(started.raw("canary"), "10");
  EXPECT_EQ(started.raw("stop_percent"), "20");
  EXPECT_EQ(started.raw("rate"), "50") << "the cap is the rate where none is asked for";
  ASSERT_EQ(carried.size(), 1U);
  EXPECT_EQ(carried.front().to_string(), token);
  EXPECT_EQ(context.allowance.rows_left(), 2);
  store::AuditFilter by_agents;
  by_agents.surface = "mcp";
  const auto audit = test::must(store->audit(by_agents, 10, std::nullopt));
  ASSERT_EQ(audit.size(), 1U);
  EXPECT_EQ(audit.front().actor.name, "agent:tester (for alice@box)");
  EXPECT_EQ(audit.front().actor.reason, "the provider is back");
  EXPECT_EQ(call("get_operation", R"({"operation_id":")" + token + R"("})").raw("total"), "3");
}

TEST_F(PlanToolsTest, AnOperationMayBeNamedByTheBeginningOfItsId) {
  fail_some(3);
  const std::string token = plan().text("token");
  const std::string first = token.substr(0, 13);
  EXPECT_EQ(call("get_operation", R"({"operation_id":")" + first + R"("})").text("state"), "planned");
  EXPECT_EQ(call("execute_replay_plan", execution(first, R"(,"confirm_count":3)")).text("operation_id"), token);
  const Answered unknown = call("execute_replay_plan", execution("ffffffff", R"(,"confirm_count":3)"));
  EXPECT_EQ(unknown.text("code"), "not_found");
  EXPECT_THAT(unknown.text("hint"), HasSubstr("plan_replay"));
  EXPECT_EQ(call("get_operation", R"({"operation_id":"seven"})").text("field"), "operation_id");
}

TEST_F(PlanToolsTest, TheCountMustBeThePlans) {
  fail_some(3);
  const Answered refused = call("execute_replay_plan", execution(plan().text("token"), R"(,"confirm_count":4)"));
  EXPECT_EQ(refused.text("code"), "invalid");
  EXPECT_EQ(refused.text("field"), "confirm_count");
  EXPECT_TRUE(carried.empty());
  EXPECT_EQ(context.allowance.rows_left(), 5);
}

TEST_F(PlanToolsTest, ASetThatMovedMustBePlannedAgain) {
  fail_some(3);
  const std::string token = plan().text("token");
  EXPECT_FALSE(call("replay_dlq_event", R"({"event_id":")" + test::id_of(1).to_string() + R"(","reason":"r"})").failed);
  const Answered refused = call("execute_replay_plan", execution(token, R"(,"confirm_count":3)"));
  EXPECT_EQ(refused.text("code"), "conflict");
  EXPECT_EQ(refused.text("field"), "token");
  EXPECT_THAT(refused.text("hint"), HasSubstr("plan_replay"));
}

TEST_F(PlanToolsTest, AnUnknownTokenSaysWhatToDo) {
  const Answered refused = call("execute_replay_plan", execution(test::id_of(77).to_string(), R"(,"confirm_count":3)"));
  EXPECT_EQ(refused.text("code"), "not_found");
  EXPECT_THAT(refused.text("hint"), HasSubstr("plan_replay"));
}

TEST_F(PlanToolsTest, ARateAboveTheCapIsRefused) {
  fail_some(1);
  const Answered refused =
      call("execute_replay_plan", execution(plan().text("token"), R"(,"confirm_count":1,"rate":51)"));
  EXPECT_EQ(refused.text("code"), "forbidden");
  EXPECT_EQ(refused.text("field"), "rate");
}

TEST_F(PlanToolsTest, ThePrecautionsCannotBeSwitchedOff) {
  for (const char* careless : {R"("canary":0)", R"("stop_percent":100)", R"("rate":0)"}) {
    const std::string more = R"(,"confirm_count":1,)" + std::string{careless};
    EXPECT_EQ(call("execute_replay_plan", execution(test::id_of(1).to_string(), more)).text("code"), "invalid");
  }
}

// Plans of others: made by a person, executed here.
class PlanOfOthersTest : public PlanToolsTest {
 protected:
  std::string planned_by_a_person(OperationKind kind) {
    ops::BulkRequest request;
    request.kind = kind;
    request.query = test::must(ops::EventQuery::parse("type:demo.*"));
    const store::Actor alice{"alice@box", "cli", ""};
    return test::must(ops::plan_bulk(*store, request, alice, context.entropy)).operation.id.to_string();
  }
};

TEST_F(PlanOfOthersTest, CountAgainstTheCap) {
  fail_some(6);
  const std::string token = planned_by_a_person(OperationKind::replay);
  const Answered refused = call("execute_replay_plan", execution(token, R"(,"confirm_count":6)"));
  EXPECT_EQ(refused.text("code"), "forbidden");
}

TEST_F(PlanOfOthersTest, AreExecutedOnlyIfTheyAreReplays) {
  fail_some(2);
  const std::string discard = planned_by_a_person(OperationKind::discard);
  const Answered refused = call("execute_replay_plan", execution(discard, R"(,"confirm_count":2)"));
  EXPECT_EQ(refused.text("field"), "token");
  const std::string replay = planned_by_a_person(OperationKind::replay);
  EXPECT_FALSE(call("execute_replay_plan", execution(replay, R"(,"confirm_count":2)")).failed);
  EXPECT_EQ(context.allowance.rows_left(), 3);
}

}  // namespace
}  // namespace sluice::mcp
