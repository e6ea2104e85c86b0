#include "mcp/message.hpp"

#include <gtest/gtest.h>

namespace sluice::mcp {
namespace {

Message message(std::string_view text) { return std::get<Message>(read_message(text)); }
Fault fault(std::string_view text) { return std::get<Fault>(read_message(text)); }

TEST(Message, ARequestKeepsItsIdAsItWas) {
  const auto numbered = message(R"({"jsonrpc":"2.0","id":-7,"method":"ping"})");
  EXPECT_EQ(numbered.kind, Message::Kind::request);
  EXPECT_EQ(numbered.id, "-7");
  EXPECT_EQ(numbered.method, "ping");
  EXPECT_EQ(numbered.params, "");
  const auto named = message(R"({"method":"tools\/list","id":"a\"b","jsonrpc":"2.0","params":{"x":1}})");
  EXPECT_EQ(named.id, R"("a\"b")");
  EXPECT_EQ(named.method, "tools/list");
  EXPECT_EQ(named.params, R"({"x":1})");
}

TEST(Message, WithoutAnIdItIsANotificationWhateverItsParams) {
  EXPECT_EQ(message(R"({"jsonrpc":"2.0","method":"m"})").kind, Message::Kind::notification);
  EXPECT_EQ(message(R"({"jsonrpc":"2.0","method":"m","params":[1]})").kind, Message::Kind::notification);
}

TEST(Message, AnAnswerOfTheClientIsAResponse) {
  EXPECT_EQ(message(R"({"jsonrpc":"2.0","id":1,"result":{}})").kind, Message::Kind::response);
  EXPECT_EQ(message(R"({"jsonrpc":"2.0","id":1,"error":{}})").kind, Message::Kind::response);
}

TEST(Message, WhatIsNoJsonIsAParseError) {
  for (const char* text : {"{", "nonsense", R"({"jsonrpc":"2.0","id":1,)", "{\"a\":\"\xFF\"}"}) {
    EXPECT_EQ(fault(text).code, FaultCode::parse_error) << text;
    EXPECT_EQ(fault(text).id, "null");
  }
}

TEST(Message, WhatIsNoRequestSaysWhy) {
  EXPECT_EQ(fault("7").code, FaultCode::invalid_request);
  EXPECT_EQ(fault("[]").code, FaultCode::invalid_request);
  EXPECT_EQ(fault(R"({"jsonrpc":"2.0","id":null,"method":"m"})").message, "id must be a string or a whole number");
  EXPECT_EQ(fault(R"({"jsonrpc":"2.0","id":1.5,"method":"m"})").code, FaultCode::invalid_request);
  EXPECT_EQ(fault(R"({"jsonrpc":"2.0","id":{},"method":"m"})").code, FaultCode::invalid_request);
  EXPECT_EQ(fault(R"({"jsonrpc":"2.0","id":4})").message, "method must be a string");
  EXPECT_EQ(fault(R"({"jsonrpc":"2.0","id":4,"method":5})").id, "4");
  EXPECT_EQ(fault(R"({"jsonrpc":"1.0","id":4,"method":"m"})").message, R"(jsonrpc must be "2.0")");
  EXPECT_EQ(fault(R"({"id":4,"id":5,"jsonrpc":"2.0","method":"m"})").code, FaultCode::invalid_request);
  EXPECT_EQ(fault(R"({"jsonrpc":"2.0","id":4,"method":"m","params":[]})").code, FaultCode::invalid_params);
}

TEST(Message, AnswersAreOneLine) {
  EXPECT_EQ(result_message("1", "{}"), R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_EQ(fault_message({FaultCode::method_not_found, "no\nsuch", {}, R"("x")"}),
            R"({"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"no\nsuch"}})");
  EXPECT_EQ(fault_message({FaultCode::unsupported_version, "m", R"({"a":1})", "2"}),
            R"({"jsonrpc":"2.0","id":2,"error":{"code":-32022,"message":"m","data":{"a":1}}})");
}

}  // namespace
}  // namespace sluice::mcp
