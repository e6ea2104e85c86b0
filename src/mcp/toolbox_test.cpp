#include "mcp/toolbox.hpp"

#include <gmock/gmock.h>

#include "mcp/tool_fixture.hpp"

namespace sluice::mcp {
namespace {

std::vector<std::string> names(const std::string& list) {
  std::vector<std::string> found;
  const auto tools = json::elements(list, "tools");
  for (const std::string_view tool : *tools) found.push_back(text_member(tool, "name").value_or(""));
  return found;
}

class ToolboxTest : public ToolFixture {};

TEST_F(ToolboxTest, OffersTheToolsOfTheRunbookByName) {
  EXPECT_THAT(
      names(Toolbox{context}.list()),
      testing::ElementsAre("list_dlq_events", "get_dlq_event_detail", "list_failed_outbox_rows",
                           "list_failure_clusters", "list_saved_filters", "replay_dlq_event", "replay_outbox_row",
                           "run_event_now", "reschedule_event", "cancel_event", "resend_event", "edit_and_replay_event",
                           "plan_replay", "execute_replay_plan", "get_operation", "get_status", "ladder_status"));
}

TEST_F(ToolboxTest, EveryToolIsDescribedAndAnnotatedInFull) {
  const std::string list = Toolbox{context}.list();
  const auto tools = json::elements(list, "tools");
  for (const std::string_view tool : *tools) {
    const auto name = text_member(tool, "name").value_or("");
    EXPECT_GT(text_member(tool, "description").value_or("").size(), 100U) << name;
    for (const char* hint : {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}) {
      EXPECT_TRUE(member(member(tool, "annotations").value_or(""), hint)) << name << ' ' << hint;
    }
    for (const char* schema : {"inputSchema", "outputSchema"}) {
      EXPECT_EQ(text_member(member(tool, schema).value_or(""), "type"), "object") << name << ' ' << schema;
    }
  }
}

TEST_F(ToolboxTest, AWrongArgumentIsAToolErrorThatNamesIt) {
  const Answered answered = call("get_dlq_event_detail", R"({"id":"x"})");
  EXPECT_TRUE(answered.failed);
  EXPECT_EQ(answered.text("code"), "invalid");
  EXPECT_EQ(answered.text("field"), "id");
}

TEST_F(ToolboxTest, AnUnknownToolIsNone) { EXPECT_FALSE(Toolbox{context}.call({"drop_table", "{}", "agent"})); }

TEST_F(ToolboxTest, GetStatusTellsWhatIsAllowed) {
  const Answered answered = call("get_status");
  EXPECT_EQ(answered.raw("session"),
            R"json({"actor":"agent:tester (for alice@box)","read_only":false,"max_rows":100,"rows_left":100,)json"
            R"json("max_rate":50})json");
}

TEST_F(ToolboxTest, LadderStatusSaysWhatIsDue) {
  const Answered answered = call("ladder_status");
  EXPECT_FALSE(answered.failed);
  EXPECT_EQ(answered.text("stage"), "embedded");
  EXPECT_EQ(answered.raw("due"), "null");
  EXPECT_NE(answered.text("why"), "");
}

class ReadOnlyTest : public ToolFixture {
 protected:
  ReadOnlyTest() : ToolFixture({true, 100, 50}) {}
};

TEST_F(ReadOnlyTest, NothingThatChangesIsOfferedOrDone) {
  EXPECT_THAT(names(Toolbox{context}.list()),
              testing::ElementsAre("list_dlq_events", "get_dlq_event_detail", "list_failed_outbox_rows",
                                   "list_failure_clusters", "list_saved_filters", "get_operation", "get_status",
                                   "ladder_status"));
  fail_some(1);
  const std::string id = test::id_of(1).to_string();
  const Answered refused = call("replay_dlq_event", R"({"event_id":")" + id + R"(","reason":"because"})");
  EXPECT_TRUE(refused.failed);
  EXPECT_EQ(refused.text("code"), "forbidden");
  EXPECT_EQ(test::must(store->get_event(test::id_of(1))).status, Status::failed);
  EXPECT_TRUE(call("plan_replay", R"({"filter":"type:*"})").failed);
  EXPECT_TRUE(call("execute_replay_plan").failed);
  EXPECT_FALSE(call("list_dlq_events").failed);
}

}  // namespace
}  // namespace sluice::mcp
