#include "mcp/transport.hpp"

#include <sstream>

#include "mcp/tool_fixture.hpp"

namespace sluice::mcp {
namespace {

class ServerTest : public ToolFixture {
 protected:
  std::string serve_text(const std::string& input, std::size_t limit = kMaxMessageBytes) {
    const Toolbox tools{context};
    Protocol protocol{tools, {"1.2.3", "alice@box", {}}};
    std::istringstream in{input};
    std::ostringstream out;
    serve(in, out, protocol, limit);
    return out.str();
  }
};

const std::string kPing = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
const std::string kPong = R"({"jsonrpc":"2.0","id":1,"result":{}})";

TEST_F(ServerTest, AnswersLineByLineUntilTheInputEnds) {
  EXPECT_EQ(serve_text(kPing + "\n" + kPing + "\r\n"), kPong + "\n" + kPong + "\n");
  EXPECT_EQ(serve_text(kPing), kPong + "\n") << "the last line may lack its end";
  EXPECT_EQ(serve_text(""), "");
}

TEST_F(ServerTest, EmptyLinesAndNotificationsGetNoAnswer) {
  EXPECT_EQ(serve_text("\n  \n"
                       R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
                       "\n"),
            "");
}

TEST_F(ServerTest, ALineThatIsTooLongIsRefusedAndTheNextOneAnswered) {
  const std::string answers = serve_text(std::string(200, 'x') + "\n" + kPing + "\n", 100);
  EXPECT_EQ(answers,
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message may have at most 100 bytes"}})"
            "\n" +
                kPong + "\n");
}

TEST_F(ServerTest, ALineOfExactlyTheLimitIsRead) {
  EXPECT_EQ(serve_text(kPing + "\n", kPing.size()), kPong + "\n");
  EXPECT_NE(serve_text(kPing + "\n", kPing.size() - 1), kPong + "\n");
}

TEST_F(ServerTest, NonsenseIsAParseErrorAndNotTheEnd) {
  const std::string answers = serve_text("nonsense\n" + kPing + "\n");
  EXPECT_NE(answers.find("-32700"), std::string::npos);
  EXPECT_TRUE(answers.ends_with(kPong + "\n"));
}

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
  HttpOutcome post(HttpExchange what) { return exchange(what, Toolbox{context}, {"1.2.3", "alice", {}}); }
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

std::string session_actor(const HttpOutcome& outcome) {
  const std::string structured{member(member(outcome.body, "result").value_or(""), "structuredContent").value_or("")};
  return text_member(member(structured, "session").value_or(""), "actor").value_or("(none)");
}

TEST_F(HttpExchangeTest, ASessionKnowsWhoBeganIt) {
  const std::string hello = posted_request(
      "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tri\u00e4ge bot"}})");
  const auto begun = post({{}, {}, {}, hello, {}, "0190a5d0-0000"});
  ASSERT_TRUE(begun.session) << begun.body;
  EXPECT_EQ(begun.session->find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz-."), std::string::npos);
  const std::string call = posted_request("tools/call", R"({"name":"get_status","arguments":{}})");
  const auto called = post({"2025-11-25", {}, {}, call, begun.session});
  EXPECT_EQ(called.status, 200);
  EXPECT_FALSE(called.session) << "only a handshake begins one";
  EXPECT_EQ(session_actor(called), "agent:tri__ge bot (for alice)");
  EXPECT_EQ(session_actor(post({"2025-11-25", {}, {}, call})), "agent:unknown agent (for alice)");
  EXPECT_EQ(
      post({"2025-11-25", {}, {}, R"({"jsonrpc":"2.0","method":"notifications/initialized"})", begun.session}).status,
      202);
}

TEST_F(HttpExchangeTest, ASessionThatIsNoneIsNotFound) {
  const std::string call = posted_request("tools/call", R"({"name":"get_status","arguments":{}})");
  for (const std::string& session :
       {std::string{"x"}, std::string{""}, std::string{".6f6c64"}, std::string{"1.6"}, "1." + std::string(130, 'a')}) {
    const auto outcome = post({"2025-11-25", {}, {}, call, session});
    EXPECT_EQ(outcome.status, 404) << session;
    EXPECT_EQ(member(outcome.body, "id"), "1") << outcome.body;
  }
}

TEST_F(HttpExchangeTest, AVersionThatIsNotSpokenIsAnsweredWithThoseThatAre) {
  const std::string body =
      posted_request("tools/list", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01",)"
                                   R"("io.modelcontextprotocol/clientCapabilities":{}}})");
  for (const std::string& text : {body, posted_request("tools/list", "{}")}) {
    const auto outcome = post({"1999-01-01", "tools/list", {}, text});
    EXPECT_EQ(outcome.status, 400);
    EXPECT_EQ(code(outcome), "-32022") << outcome.body;
    EXPECT_EQ(member(outcome.body, "id"), "1");
    const auto data = member(member(outcome.body, "error").value_or(""), "data").value_or("");
    EXPECT_EQ(text_member(data, "requested"), "1999-01-01");
    EXPECT_EQ(member(data, "supported"), R"(["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"])");
  }
}

TEST_F(HttpExchangeTest, WhatTheStatelessRevisionDoesNotHaveIsNotFound) {
  for (const char* method : {"initialize", "ping", "logging/setLevel", "resources/list", "no/such"}) {
    const auto outcome = post({"2026-07-28", method, {}, posted_modern(method)});
    EXPECT_EQ(outcome.status, 404) << method;
    EXPECT_EQ(code(outcome), "-32601") << outcome.body;
    EXPECT_EQ(member(outcome.body, "id"), "1");
  }
}

TEST_F(HttpExchangeTest, EveryStatelessRequestCarriesItsMeta) {
  constexpr const char* kVersion = R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")";
  constexpr const char* kCan = R"("io.modelcontextprotocol/clientCapabilities":{})";
  for (const std::string& params :
       {std::string{"{}"}, R"({"_meta":{)" + std::string{kCan} + "}}", R"({"_meta":{)" + std::string{kVersion} + "}}",
        std::string{R"({"_meta":{"io.modelcontextprotocol/protocolVersion":7}})"}, std::string{R"({"_meta":[]})"}}) {
    const auto outcome = post({"2026-07-28", "server/discover", {}, posted_request("server/discover", params)});
    EXPECT_EQ(outcome.status, 400) << params;
    EXPECT_EQ(code(outcome), "-32602") << outcome.body;
    EXPECT_EQ(member(outcome.body, "id"), "1");
  }
}

TEST_F(HttpExchangeTest, WhatIsNotUnderstoodIsABadRequest) {
  EXPECT_EQ(code(post({"1999-01-01", {}, {}, posted_modern("tools/list")})), "-32020") << "the body says another";
  EXPECT_EQ(post({{}, {}, {}, "{"}).status, 400);
  EXPECT_EQ(post({{}, {}, {}, ""}).status, 400);
}

}  // namespace
}  // namespace sluice::mcp
