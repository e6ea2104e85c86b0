#include "core/redact.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace sluice {
namespace {

using Case = std::pair<std::string_view, std::string_view>;

class Redaction : public testing::TestWithParam<Case> {};

TEST_P(Redaction, HidesThePasswordAndNothingElse) {
  const auto& [given, expected] = GetParam();
  EXPECT_EQ(redact_dsn(given), expected);
}

INSTANTIATE_TEST_SUITE_P(Urls, Redaction,
                         testing::Values(Case{"postgres://user:secret@host/db", "postgres://user:***@host/db"},
                                         Case{"postgresql://user:secret@host:5432/db",
                                              "postgresql://user:***@host:5432/db"},
                                         Case{"postgres://user@host/db", "postgres://user@host/db"},
                                         Case{"postgres://host:5432/db", "postgres://host:5432/db"},
                                         Case{"postgres:///db?host=/run", "postgres:///db?host=/run"},
                                         Case{"postgres://u:@host/db", "postgres://u:***@host/db"},
                                         Case{"postgres://u:p%40ss@h/db", "postgres://u:***@h/db"},
                                         Case{"postgres://u:p@ss@h/db", "postgres://u:***@h/db"},
                                         Case{"postgres://u:p/ss@h/db", "postgres://u:***@h/db"},
                                         Case{"postgres://u:p:q@h/db", "postgres://u:***@h/db"},
                                         Case{"postgres://h/db?user=u&password=secret&sslmode=require",
                                              "postgres://h/db?user=u&password=***&sslmode=require"},
                                         Case{"postgres://h/db?sslpassword=secret", "postgres://h/db?sslpassword=***"},
                                         Case{"mysql://root:secret@h/db", "mysql://root:***@h/db"}));

INSTANTIATE_TEST_SUITE_P(Keywords, Redaction,
                         testing::Values(Case{"host=h password=secret dbname=d", "host=h password=*** dbname=d"},
                                         Case{"password='two words' host=h", "password=*** host=h"},
                                         Case{"password='it\\'s' host=h", "password=*** host=h"},
                                         Case{"password = secret host=h", "password = *** host=h"},
                                         Case{"host=h user=u", "host=h user=u"},
                                         Case{"password=a\\ b host=h", "password=*** host=h"}));

INSTANTIATE_TEST_SUITE_P(Other, Redaction,
                         testing::Values(Case{"sqlite:/var/lib/a b.db", "sqlite:/var/lib/a b.db"}, Case{"", ""}));

TEST(RedactAddress, KeepsOnlySchemeAndHost) {
  EXPECT_EQ(redact_address("https://hooks.example.com/services/T0/B1/secret"), "https://hooks.example.com/***");
  EXPECT_EQ(redact_address("https://key:secret@sentry.example.com:9000/42"), "https://sentry.example.com:9000/***");
  EXPECT_EQ(redact_address("https://host?token=secret"), "https://host/***");
  EXPECT_EQ(redact_address("http://[::1]:80/secret"), "http://[::1]:80/***");
  EXPECT_EQ(redact_address("https://user:pass/wo?rd@host/hook"), "https://host/***");
  EXPECT_EQ(redact_address("secret"), "***");
}

}  // namespace

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
