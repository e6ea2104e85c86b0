#include "mcp/protocol.hpp"

#include "mcp/tool_fixture.hpp"

namespace sluice::mcp {
namespace {

std::string request(const std::string& method, const std::string& params = "{}") {
  return R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + '}';
}

// A request of the current revision.
std::string modern(const std::string& method, const std::string& more = "", const std::string& version = "2026-07-28") {
  return request(method, R"({"_meta":{"io.modelcontextprotocol/protocolVersion":")" + version +
                             R"(","io.modelcontextprotocol/clientCapabilities":{},)"
                             R"("io.modelcontextprotocol/clientInfo":{"name":"modern"}})" +
                             more + '}');
}

class ProtocolTest : public ToolFixture {
 protected:
  Toolbox tools{context};
  Protocol protocol{tools, {"1.2.3", "alice@box", {}}};

  std::string answer(const std::string& text) { return protocol.handle(text).value_or("(nothing)"); }
  std::string result(const std::string& text) { return std::string{member(answer(text), "result").value_or("")}; }
  std::string code(const std::string& text) {
    return std::string{member(member(answer(text), "error").value_or(""), "code").value_or("none")};
  }
  std::string initialize(const std::string& version) {
    return result(request("initialize", R"({"protocolVersion":")" + version +
                                            R"(","capabilities":{},"clientInfo":{"name":"old","version":"1"}})"));
  }
  // As the audit would name the client of this request.
  std::string actor(const std::string& call) {
    const std::string structured{member(result(call), "structuredContent").value_or("")};
    return text_member(member(structured, "session").value_or(""), "actor").value_or("(none)");
  }
};

TEST_F(ProtocolTest, TheHandshakeAgreesOnTheVersionThatWasAskedFor) {
  for (const std::string_view version : kHandshakeVersions) {
    EXPECT_EQ(text_member(initialize(std::string{version}), "protocolVersion"), version);
  }
  EXPECT_EQ(text_member(initialize("1999-01-01"), "protocolVersion"), "2025-11-25");
  EXPECT_EQ(text_member(initialize("2026-07-28"), "protocolVersion"), "2025-11-25") << "it has no handshake";
}

TEST_F(ProtocolTest, TheHandshakeTellsWhoAnswers) {
  const std::string answered = initialize("2025-06-18");
  EXPECT_EQ(member(answered, "serverInfo"), R"({"name":"sluice","title":"Sluice","version":"1.2.3"})");
  EXPECT_EQ(member(answered, "capabilities"), R"({"tools":{"listChanged":false}})");
  EXPECT_FALSE(text_member(answered, "instructions").value_or("").empty());
}

TEST_F(ProtocolTest, ASessionListsCallsAndPings) {
  initialize("2025-11-25");
  EXPECT_FALSE(protocol.handle(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"));
  EXPECT_EQ(result(request("ping")), "{}");
  const std::string listed = result(request("tools/list"));
  EXPECT_EQ(member(listed, "tools"), tools.list());
  EXPECT_FALSE(member(listed, "resultType")) << "unknown before 2026-07-28";
  EXPECT_EQ(actor(request("tools/call", R"({"name":"get_status"})")), "agent:old (for alice@box)");
}

TEST_F(ProtocolTest, WithoutAHandshakeARequestNeedsItsVersion) {
  EXPECT_EQ(code(request("tools/list")), "-32602");
  EXPECT_EQ(code(request("server/discover")), "-32602");
  EXPECT_EQ(code(request("initialize", "{}")), "-32602");
}

TEST_F(ProtocolTest, UnknownMethodsAndToolsAreFaults) {
  initialize("2025-11-25");
  EXPECT_EQ(code(request("resources/list")), "-32601");
  EXPECT_EQ(code(request("server/discover")), "-32601");
  EXPECT_EQ(code(request("tools/call", R"({"name":"drop_table"})")), "-32602");
  EXPECT_EQ(code(request("tools/call", R"({"arguments":{}})")), "-32602");
  EXPECT_EQ(code(request("tools/call", R"({"name":"get_status","arguments":[]})")), "-32602");
}

TEST_F(ProtocolTest, DiscoveryNeedsNoHandshake) {
  const std::string found = result(modern("server/discover"));
  EXPECT_EQ(member(found, "supportedVersions"),
            R"(["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"])");
  EXPECT_EQ(text_member(found, "resultType"), "complete");
  EXPECT_EQ(text_member(found, "cacheScope"), "private");
  EXPECT_EQ(member(found, "ttlMs"), "300000");
  EXPECT_EQ(member(found, "_meta"),
            R"({"io.modelcontextprotocol/serverInfo":{"name":"sluice","title":"Sluice","version":"1.2.3"}})");
}

TEST_F(ProtocolTest, EachModernRequestStandsForItself) {
  const std::string listed = result(modern("tools/list"));
  EXPECT_EQ(member(listed, "tools"), tools.list());
  EXPECT_EQ(text_member(listed, "resultType"), "complete");
  EXPECT_TRUE(member(listed, "ttlMs"));
  const std::string called = modern("tools/call", R"(,"name":"get_status","arguments":{})");
  EXPECT_EQ(text_member(result(called), "resultType"), "complete");
  EXPECT_FALSE(member(result(called), "ttlMs"));
  EXPECT_EQ(actor(called), "agent:modern (for alice@box)");
  EXPECT_EQ(code(request("tools/list")), "-32602") << "nothing is remembered";
}

TEST_F(ProtocolTest, ModernRequestsBeatTheHandshakeOfTheirSession) {
  initialize("2025-11-25");
  EXPECT_EQ(text_member(result(modern("tools/list")), "resultType"), "complete");
  EXPECT_FALSE(member(result(request("tools/list")), "resultType"));
}

TEST_F(ProtocolTest, AVersionThatCannotBeNamedIsAnsweredWithThoseThatCan) {
  const std::string answered = answer(modern("tools/list", "", "2031-01-01"));
  const std::string error{member(answered, "error").value_or("")};
  EXPECT_EQ(member(error, "code"), "-32022");
  EXPECT_EQ(member(error, "data"), R"({"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],)"
                                   R"("requested":"2031-01-01"})");
  EXPECT_EQ(code(modern("tools/list", "", "2025-11-25")), "-32022") << "that one begins with initialize";
}

TEST_F(ProtocolTest, ModernRequestsMustSayWhatTheClientCanDo) {
  EXPECT_EQ(code(request("tools/list", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})")),
            "-32602");
  EXPECT_EQ(code(request("tools/list", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":7}})")), "-32602");
}

TEST_F(ProtocolTest, WhatTheCurrentRevisionDroppedIsNotFound) {
  for (const char* method : {"ping", "initialize", "logging/setLevel"}) EXPECT_EQ(code(modern(method)), "-32601");
}

TEST_F(ProtocolTest, OnlyTheRevisionThatHadBatchesTakesThem) {
  const std::string ping = request("ping");
  const std::string batch = "[" + ping + R"(,{"jsonrpc":"2.0","method":"notifications/initialized"}])";
  EXPECT_EQ(code(batch), "-32600");
  initialize("2025-03-26");
  EXPECT_EQ(answer(batch), R"([{"jsonrpc":"2.0","id":1,"result":{}}])");
  EXPECT_EQ(answer(R"([{"jsonrpc":"2.0","method":"notifications/initialized"}])"), "(nothing)");
  EXPECT_EQ(code("[]"), "-32600");
  EXPECT_EQ(code("[1"), "-32700");
  initialize("2025-06-18");
  EXPECT_EQ(code(batch), "-32600");
}

TEST_F(ProtocolTest, TheNameGivenAtTheStartBeatsTheClients) {
  Protocol named{tools, {"1", "alice@box", "night-shift"}};
  const auto answered = named.handle(modern("tools/call", R"(,"name":"get_status")"));
  EXPECT_NE(answered.value_or("").find("agent:night-shift (for alice@box)"), std::string::npos);
}

}  // namespace
}  // namespace sluice::mcp
