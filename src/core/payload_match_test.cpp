#include "core/payload_match.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

PayloadTerm term(std::vector<std::string> path, std::string value, bool only_text = false) {
  return {std::move(path), std::move(value), only_text};
}

TEST(PayloadMatch, AValueIsAStringOrANumberOfThatText) {
  EXPECT_TRUE(payload_has(R"({"order_id": 4711})", term({"order_id"}, "4711")));
  EXPECT_TRUE(payload_has(R"({"order_id": "4711"})", term({"order_id"}, "4711")));
  EXPECT_FALSE(payload_has(R"({"order_id": 47110})", term({"order_id"}, "4711")));
  EXPECT_FALSE(payload_has(R"({"order": 4711})", term({"order_id"}, "4711")));
  EXPECT_TRUE(payload_has(R"({"paid":true,"note":null})", term({"paid"}, "true")));
  EXPECT_TRUE(payload_has(R"({"paid":true,"note":null})", term({"note"}, "null")));
  EXPECT_FALSE(payload_has(R"({"paid":true})", term({"note"}, "null")));
}

TEST(PayloadMatch, QuotedIsAStringAlone) {
  EXPECT_FALSE(payload_has(R"({"order_id": 4711})", term({"order_id"}, "4711", true)));
  EXPECT_TRUE(payload_has(R"({"order_id": "4711"})", term({"order_id"}, "4711", true)));
  EXPECT_TRUE(payload_has(R"({"paid": "true"})", term({"paid"}, "true", true)));
}

TEST(PayloadMatch, ThePathGoesInwardsAndThroughArrays) {
  const std::string payload = R"( {"order":{"lines":[{"sku":"a"},{"sku":"b"}],"tags":["x",["y"]]}})";
  EXPECT_TRUE(payload_has(payload, term({"order", "lines", "sku"}, "b")));
  EXPECT_TRUE(payload_has(payload, term({"order", "tags"}, "x")));
  EXPECT_FALSE(payload_has(payload, term({"order", "tags"}, "y"))) << "one level, as in a jsonpath";
  EXPECT_FALSE(payload_has(payload, term({"lines", "sku"}, "b")));
  EXPECT_FALSE(payload_has(payload, term({"order"}, "b")));
}

TEST(PayloadMatch, EscapesAreReadOnBothSides) {
  EXPECT_TRUE(payload_has(R"({"n\u0061me":"M\u00fcller \"x\""})", term({"name"}, "Müller \"x\"")));
}

TEST(PayloadMatch, NumbersAreComparedByValue) {
  EXPECT_TRUE(same_number("1.50", "15e-1"));
  EXPECT_TRUE(same_number("-0", "0.0"));
  EXPECT_TRUE(same_number("100", "1E+2"));
  EXPECT_FALSE(same_number("1", "-1"));
  EXPECT_FALSE(same_number("9007199254740993", "9007199254740992"));
  EXPECT_FALSE(same_number("true", "1"));
  EXPECT_TRUE(payload_has(R"({"amount":12.50})", term({"amount"}, "12.5")));
}

TEST(PayloadMatch, WhatIsNoNumberOfJsonIsAString) {
  EXPECT_EQ(scalar_of(term({"a"}, "007")), std::nullopt);
  EXPECT_EQ(scalar_of(term({"a"}, "1e999999")), std::nullopt);
  EXPECT_EQ(scalar_of(term({"a"}, "{}")), std::nullopt);
  EXPECT_EQ(scalar_of(term({"a"}, "-12.5e3")), "-12.5e3");
  EXPECT_EQ(scalar_of(term({"a"}, "12", true)), std::nullopt);
  EXPECT_TRUE(payload_has(R"({"a":"007"})", term({"a"}, "007")));
}

TEST(PayloadMatch, ANameIsQuotedWhereItMustBeAndReadEitherWay) {
  EXPECT_EQ(name_of(term({"order", "id"}, "1")), "data.order.id");
  EXPECT_EQ(name_of(term({"a.b", "c\"d", "\"", ""}, "1")), R"(data."a.b".c"d."\""."")");
  EXPECT_EQ(path_of(R"(data."order".id)"), (std::vector<std::string>{"order", "id"}));
  EXPECT_EQ(path_of(R"(data."a.b".c"d."\""."")"), (std::vector<std::string>{"a.b", "c\"d", "\"", ""}));
  for (const std::string_view none :
       {"", "data", "data.", "data.a..b", "data.\"a", "data.\"a\"b", "data.\"a\".", "date.a"}) {
    EXPECT_EQ(path_of(none), std::nullopt) << none;
  }
}

TEST(PayloadMatch, ADamagedPayloadMatchesNothing) {
  EXPECT_FALSE(payload_has("", term({"a"}, "1")));
  EXPECT_FALSE(payload_has("{\"a\":1", term({"a"}, "1")));
  EXPECT_FALSE(payload_has("7", term({"a"}, "7")));
}

}  // namespace
}  // namespace sluice
