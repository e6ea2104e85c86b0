#include "mcp/http_exchange.hpp"

#include "mcp/tool_fixture.hpp"

namespace sluice::mcp {
namespace {

std::string posted_request(const std::string& method, const std::string& params) {
  return R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + '}';
}

std::string posted_modern(const std::string& method, const std::string& more = "") {
  return posted_request(method, R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                                R"("io.modelcontextprotocol/clientCapabilities":{}})" +
                                    more + '}');
}

class HttpExchangeTest : public ToolFixture {
 protected:
  HttpOutcome post(HttpExchange what) { return exchange(what, Toolbox{desk}, {"1.2.3", "alice", {}}); }
  static std::string code(const HttpOutcome& outcome) {
    return std::string{member(member(outcome.body, "error").value_or(""), "code").value_or("none")};
  }
};

TEST_F(HttpExchangeTest, ARequestThatStandsForItself) {
  const auto listed = post({"2026-07-28", "tools/list", {}, posted_modern("tools/list")});
  EXPECT_EQ(listed.status, 200);
  EXPECT_NE(listed.body.find("list_dlq_events"), std::string::npos);
  const std::string call = posted_modern("tools/call", R"(,"name":"get_status","arguments":{})");
  EXPECT_EQ(post({"2026-07-28", "tools/call", "get_status", call}).status, 200);
}

TEST_F(HttpExchangeTest, HeadersMustAgreeWithTheBody) {
  const std::string list = posted_modern("tools/list");
  const std::string call = posted_modern("tools/call", R"(,"name":"get_status","arguments":{})");
  for (const HttpExchange& wrong :
       {HttpExchange{"2026-07-28", "tools/call", {}, list}, HttpExchange{"2026-07-28", {}, {}, list},
        HttpExchange{{}, "tools/list", {}, list}, HttpExchange{"2025-11-25", "tools/list", {}, list},
        HttpExchange{"2026-07-28", "tools/call", "replay_dlq_event", call},
        HttpExchange{"2026-07-28", "tools/call", {}, call}}) {
    const auto outcome = post(wrong);
    EXPECT_EQ(outcome.status, 400) << outcome.body;
    EXPECT_EQ(code(outcome), "-32020") << outcome.body;
  }
}

TEST_F(HttpExchangeTest, AnOlderClientNeedsNoSession) {
  const std::string hello =
      posted_request("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old"}})");
  EXPECT_EQ(post({{}, {}, {}, hello}).status, 200);
  EXPECT_EQ(post({"2025-11-25", {}, {}, R"({"jsonrpc":"2.0","method":"notifications/initialized"})"}).status, 202);
  const auto listed = post({"2025-11-25", {}, {}, posted_request("tools/list", "{}")});
  EXPECT_NE(listed.body.find("list_dlq_events"), std::string::npos) << listed.body;
  EXPECT_NE(post({{}, {}, {}, posted_request("tools/list", "{}")}).body.find("list_dlq_events"), std::string::npos);
}

TEST_F(HttpExchangeTest, WhatIsNotUnderstoodIsABadRequest) {
  EXPECT_EQ(code(post({"1999-01-01", {}, {}, posted_modern("tools/list")})), "-32022");
  EXPECT_EQ(post({{}, {}, {}, "{"}).status, 400);
  EXPECT_EQ(post({{}, {}, {}, ""}).status, 400);
}

}  // namespace
}  // namespace sluice::mcp
