#include "core/payload_redaction.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

RedactionPolicy fields(std::vector<std::string> names) { return {RedactionPolicy::Mode::fields, std::move(names)}; }

TEST(PayloadRedaction, HidesNamedMembersAtAnyDepth) {
  EXPECT_EQ(redact_payload(R"({"id":7,"user":{"email":"a@b.c","name":"Ann"},"list":[{"Email":1}]})", fields({"email"})),
            R"({"id":7,"user":{"email":"[redacted]","name":"Ann"},"list":[{"Email":"[redacted]"}]})");
}

TEST(PayloadRedaction, EverythingBelowAHiddenMemberIsHidden) {
  EXPECT_EQ(redact_payload(R"({"card":{"number":"4111","valid":true,"owner":null}})", fields({"card"})),
            R"({"card":{"number":"[redacted]","valid":"[redacted]","owner":"[redacted]"}})");
}

TEST(PayloadRedaction, NamesMatchInOtherSpellings) {
  for (const char* name : {"api_key", "API-Key", "apiKey", "x_api_key_id"}) {
    EXPECT_EQ(redact_payload(R"({")" + std::string{name} + R"(":"s"})", fields({"apikey"})),
              R"({")" + std::string{name} + R"(":"[redacted]"})");
  }
}

TEST(PayloadRedaction, WhatIsNotHiddenStaysByteForByte) {
  EXPECT_EQ(redact_payload(R"({"n":9007199254740993.10,"s":"A\n"})", fields({"token"})),
            R"({"n":9007199254740993.10,"s":"A\n"})");
  const std::string odd = "{ \"n\" : 1e400 }";
  EXPECT_EQ(redact_payload(odd, RedactionPolicy::off()), odd);
}

TEST(PayloadRedaction, ValuesHidesEveryStringAndNumber) {
  EXPECT_EQ(redact_payload(R"({"a":"x","b":[1,true,null,{"c":2.5}]})", {RedactionPolicy::Mode::values, {}}),
            R"({"a":"[redacted]","b":["[redacted]",true,null,{"c":"[redacted]"}]})");
}

TEST(PayloadRedaction, TheDefaultKnowsTheUsualNames) {
  const std::string text = redact_payload(R"({"password":"p","access_token":"t","order":1})", {});
  EXPECT_EQ(text, R"({"password":"[redacted]","access_token":"[redacted]","order":1})");
}

TEST(PayloadRedaction, WhatIsNoJsonIsHiddenAltogether) {
  EXPECT_EQ(redact_payload("{broken", fields({"x"})), R"("[redacted]")");
}

TEST(PayloadRedaction, AnObjectWithANameTwiceIsHidden) {
  EXPECT_EQ(redact_payload(R"({"a":{"x":1,"x":2},"b":3})", fields({"token"})), R"({"a":"[redacted]","b":3})");
}

}  // namespace
}  // namespace sluice
