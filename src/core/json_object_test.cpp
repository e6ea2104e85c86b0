#include "core/json_object.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sluice {
namespace {

TEST(JsonObject, WritesEveryKindInTheOrderOfTheCalls) {
  const std::string text = JsonObject{}
                               .text("text", "a\"b")
                               .text("none", std::nullopt)
                               .number("number", -7)
                               .boolean("truth", true)
                               .time("at", Timestamp{})
                               .time("never", std::nullopt)
                               .uuid("id", std::nullopt)
                               .raw("raw", "{\"x\": 1.50}")
                               .array("list", {"1", "\"b\""})
                               .texts("texts", {"a", "\""})
                               .str();
  EXPECT_EQ(text, R"({"text":"a\"b","none":null,"number":-7,"truth":true,"at":"1970-01-01T00:00:00.000000Z",)"
                  R"("never":null,"id":null,"raw":{"x": 1.50},"list":[1,"b"],"texts":["a","\""]})");
}

TEST(JsonObject, AnEmptyOneIsAnObject) { EXPECT_EQ(JsonObject{}.str(), "{}"); }

TEST(JsonObject, ContinuesAnObject) {
  EXPECT_EQ(JsonObject{R"({"a":1})"}.number("b", 2).str(), R"({"a":1,"b":2})");
  EXPECT_EQ(JsonObject{"{}"}.number("b", 2).str(), R"({"b":2})");
}

TEST(JsonObject, DecimalsAreShort) {
  EXPECT_EQ(JsonObject{}.decimal("a", 0.5).decimal("b", 2).decimal("c", 1.0 / 3).str(), R"({"a":0.5,"b":2,"c":0.333})");
  EXPECT_EQ(json_decimal(1e300).size(), 301U);
  EXPECT_EQ(json_decimal(-0.0001), "0");
  EXPECT_EQ(json_decimal(100), "100");
  EXPECT_EQ(json_decimal(std::numeric_limits<double>::quiet_NaN()), "null");
}

}  // namespace
}  // namespace sluice
