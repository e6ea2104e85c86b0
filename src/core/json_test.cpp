#include "core/json.hpp"

#include <gtest/gtest.h>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sluice::json {
namespace {

bool accepts(std::string_view text) { return check(text, "payload").has_value(); }

std::string problem(std::string_view text) {
  const auto checked = check(text, "payload");
  return checked ? std::string{} : checked.error().message;
}

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
}

TEST(JsonCheck, TellsTheKind) {
  EXPECT_EQ(*check("{}", "x"), Kind::object);
  EXPECT_EQ(*check(" [1, {\"a\" : null}] ", "x"), Kind::array);
  EXPECT_EQ(*check("\"a\"", "x"), Kind::string);
  EXPECT_EQ(*check("-1.5e+10", "x"), Kind::number);
  EXPECT_EQ(*check("true", "x"), Kind::boolean);
  EXPECT_EQ(*check("false", "x"), Kind::boolean);
  EXPECT_EQ(*check("\t\r\n null", "x"), Kind::null);
}

TEST(JsonCheck, AcceptsEveryNumberFormOfTheStandard) {
  for (const char* good :
       {"0", "-0", "1", "-12", "0.5", "1e5", "1E-5", "1.25e+300", "12345678901234567890123456789.000001"}) {
    EXPECT_TRUE(accepts(good)) << good;
  }
  for (const char* bad : {"01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "1_000", "NaN", "Infinity", "--1", "1.e5"}) {
    EXPECT_FALSE(accepts(bad)) << bad;
  }
}

TEST(JsonCheck, RefusesWhatIsNotExactlyOneValue) {
  for (const char* bad : {"",
                          " ",
                          "{",
                          "}",
                          "[1,]",
                          "[,1]",
                          "[1 2]",
                          "{\"a\"}",
                          "{\"a\":}",
                          "{\"a\":1,}",
                          "{a:1}",
                          "{'a':1}",
                          "{\"a\":1 \"b\":2}",
                          "1 2",
                          "{} {}",
                          "tru",
                          "nul",
                          "True",
                          "[1",
                          "{\"a\":1",
                          "\"a",
                          "// x\n1",
                          "[1]]"}) {
    EXPECT_FALSE(accepts(bad)) << bad;
  }
  EXPECT_FALSE(accepts(std::string_view{"1\0", 2}));
  EXPECT_FALSE(accepts("\xEF\xBB\xBF{}")) << "a byte order mark";
}

TEST(JsonCheck, StringsAreStrict) {
  for (const char* good :
       {R"("")", R"("\"\\\/\b\f\n\r\t")", R"("\u00e9\u20AC")", R"("\ud83c\udf0d")", "\"Grüße 世界 🌍\"", "\"\x7F\""}) {
    EXPECT_TRUE(accepts(good)) << good;
  }
  for (const char* bad :
       {"\"\n\"", "\"\t\"", "\"\x01\"", R"("\x41")", R"("\u12")", R"("\u12g4")", R"("\")", R"("\u0000")",
        R"("a\u0000b")", R"("\ud83c")", R"("\udf0d")", R"("\ud83cx")", R"("\ud83c\u0041")", R"("\ud83c\n")"}) {
    EXPECT_FALSE(accepts(bad)) << bad;
  }
}

// The text, and how many bytes jsonb writes for it without the spaces between its parts.
TEST(JsonCheck, WhatIsStoredIsCountedAsJsonbWritesIt) {
  const std::vector<std::pair<std::string, std::size_t>> samples{
      {R"({})", 2},
      {R"( { "a" : [ 1 , 2 ] } )", 11},
      {R"({"a":true,"b":null})", 19},
      {R"([1e5,1E+5,-1e5])", 6 + 1 + 6 + 1 + 7 + 2},
      {R"([1e-3,-0,-0.0,0e9])", 5 + 1 + 1 + 1 + 3 + 1 + 1 + 2},
      {R"([1.50e1,12.5e-1,0.000])", 4 + 1 + 4 + 1 + 5 + 2},
      {R"([1e99999])", 100'002},
      {R"(["\u0041\/\u00e9\n\u000b\u001f"])", 2 + 2 + 1 + 1 + 2 + 2 + 6 + 6},
      {R"(["\ud83d\ude00 \"q\" \\"])", 2 + 2 + 4 + 1 + 2 + 1 + 2 + 1 + 2},
  };
  for (const auto& [text, bytes] : samples) {
    EXPECT_TRUE(check(text, "payload", {.stored_bytes = bytes})) << text;
    EXPECT_FALSE(check(text, "payload", {.stored_bytes = bytes - 1})) << text;
  }
  EXPECT_EQ(check(R"({"a":[1e99999]})", "payload", {.stored_bytes = 1000}).error().message,
            "payload must be at most 1000 bytes with its numbers written out, not 100008");
}

TEST(JsonCheck, ANumberThatNumericCannotHoldIsNotStored) {
  const Limits stored{.stored_bytes = 1'000'000};
  for (const char* good : {"1e131071", "-9.9e131071", "1e-16383", "0e999999999", "0.1e131072"}) {
    EXPECT_TRUE(check(good, "payload", stored)) << good;
  }
  for (const char* bad : {"1e131072", "10e131071", "1e-16384", "0e-16384", "1e99999999999999999999", "0e1000000000",
                          "1e-99999999999999999999"}) {
    EXPECT_FALSE(check(bad, "payload", stored)) << bad;
    EXPECT_TRUE(accepts(bad)) << "it is JSON all the same: " << bad;
  }
  EXPECT_EQ(
      check("[1,1e200000]", "payload", stored).error().message,
      "payload cannot be stored at line 1, column 4: a number may have 131072 digits before its decimal point and "
      "16383 after it");
}

TEST(JsonCheck, AMemberThatComesTwiceIsNotStored) {
  const Limits stored{.stored_bytes = 1'000};
  EXPECT_EQ(check(R"({"x":{"a":1,"b":2,"\u0061":3}})", "payload", stored).error().message,
            R"(payload has the member "a" twice)");
  EXPECT_EQ(check(R"({"":1,"":1})", "payload", stored).error().message, R"(payload has the member "" twice)");
  EXPECT_TRUE(check(R"([{"a":1},{"a":1,"A":{"a":1}}])", "payload", stored));
}

TEST(JsonCheck, NulIsRefusedInNamesToo) { EXPECT_FALSE(accepts(R"({"a\u0000":1})")); }

TEST(JsonCheck, RefusesBytesThatAreNotUtf8) {
  for (const char* bad : {"\"\x80\"", "\"\xC0\xAF\"", "\"\xE0\x80\xAF\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"",
                          "\"\xE2\x82\"", "\"\xFF\""}) {
    EXPECT_FALSE(accepts(bad)) << testing::PrintToString(bad);
  }
}

TEST(JsonCheck, DepthIsLimited) {
  EXPECT_TRUE(check(nested(64), "x"));
  EXPECT_FALSE(check(nested(65), "x"));
  EXPECT_TRUE(check(nested(3), "x", {.depth = 3}));
  EXPECT_FALSE(check(R"({"a":[{}]})", "x", {.depth = 2}));
  EXPECT_TRUE(check("1", "x", {.depth = 0}));
  EXPECT_EQ(check(nested(65), "x").error().message,
            "x is not valid JSON at line 1, column 65: it is nested too deeply");
}

TEST(JsonCheck, AHugeDepthLimitCannotExhaustTheStack) {
  EXPECT_TRUE(check(nested(kMaxDepth), "x", {.depth = 1'000'000'000}));
  EXPECT_FALSE(check(nested(kMaxDepth + 1), "x", {.depth = 1'000'000'000}));
  EXPECT_FALSE(check(std::string(10'000'000, '['), "x", {.depth = 1'000'000'000}));
}

TEST(JsonCheck, ErrorsGiveLineAndColumnInCharacters) {
  EXPECT_EQ(problem("{\"a\":1,}"),
            "payload is not valid JSON at line 1, column 8: a member name in double quotes was expected");
  EXPECT_EQ(problem("{\n  \"ü\": €\n}"), "payload is not valid JSON at line 2, column 8: a value was expected");
  EXPECT_EQ(problem("[1\n2]"), "payload is not valid JSON at line 2, column 1: ',' or ']' was expected");
  EXPECT_EQ(problem(R"(["ab\u0000"])"), "payload is not valid JSON at line 1, column 5: \\u0000 is not allowed");
  EXPECT_EQ(problem(""), "payload is not valid JSON at line 1, column 1: a value was expected");
  EXPECT_EQ(check("x", "payload").error().field, "payload");
}

TEST(JsonMembers, AreSlicesOfTheInputInOrder) {
  const std::string_view text = R"( { "b" : 1.50 , "a":{"x": [1, 2]} , "\u00e9\n": "v" } )";
  const auto found = members(text, "x");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 3U);
  EXPECT_EQ((*found)[0].name, "b");
  EXPECT_EQ((*found)[0].value, "1.50");
  EXPECT_EQ((*found)[1].name, "a");
  EXPECT_EQ((*found)[1].value, R"({"x": [1, 2]})");
  EXPECT_EQ((*found)[2].name, "é\n");
  EXPECT_EQ((*found)[2].value, "\"v\"");
  EXPECT_GE((*found)[0].value.data(), text.data());
  EXPECT_LT((*found)[0].value.data(), text.data() + text.size());
}

TEST(JsonMembers, ADuplicateNameIsAnError) {
  const auto found = members(R"({"a":1,"\u0061":2})", "envelope");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "envelope has the member \"a\" twice");
}

TEST(JsonMembers, OnlyObjectsHaveThem) {
  EXPECT_TRUE(members("{}", "x")->empty());
  EXPECT_EQ(members("[]", "x").error().message, "x must be a JSON object");
  EXPECT_FALSE(members("{", "x"));
}

TEST(JsonElements, AreSlicesOfTheInputInOrder) {
  const auto found = elements(R"([1, "a,b" ,[2,3],{}])", "x");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (std::vector<std::string_view>{"1", "\"a,b\"", "[2,3]", "{}"}));
  EXPECT_TRUE(elements("[ ]", "x")->empty());
  EXPECT_EQ(elements("{}", "x").error().message, "x must be a JSON array");
}

TEST(JsonString, ValueIsUnescaped) {
  EXPECT_EQ(*string_value(R"("a\"\\\/\b\f\n\r\t\u00e9\ud83c\udf0d€")", "x"), "a\"\\/\b\f\n\r\té🌍€");
  EXPECT_EQ(string_value("12", "source").error().message, "source must be a JSON string");
  EXPECT_EQ(string_value("12", "source").error().field, "source");
  EXPECT_FALSE(string_value("\"a\"x", "source"));
  EXPECT_FALSE(string_value("\"a", "source"));
  EXPECT_FALSE(string_value("", "source"));
}

TEST(JsonQuote, EscapesWhatMustBe) {
  EXPECT_EQ(quote("a\"\\/\b\f\n\r\t\x01\x1B\x7F"), R"("a\"\\/\b\f\n\r\t\u0001\u001b\u007f")");
  EXPECT_EQ(quote("é🌍"), "\"é🌍\"");
  EXPECT_EQ(quote("\xFFx"), "\"\xEF\xBF\xBDx\"");
}

TEST(JsonQuote, ReadsBack) {
  std::string every;
  for (char32_t c = 1; c < 0x80; ++c) every += static_cast<char>(c);
  every += "é€🌍";
  EXPECT_EQ(*string_value(quote(every), "x"), every);
}

TEST(JsonOutline, MeasuresWhatCheckWouldFind) {
  // Value, levels, storable.
  const std::tuple<const char*, int, bool> kSamples[]{{R"({})", 1, true},
                                                      {R"({"a":[1,{"b":"\u00e4\n\"x"}]})", 3, true},
                                                      {R"({"a":1,"a":2})", 1, false},
                                                      {R"({"n":1e200000})", 1, false},
                                                      {R"({"x":{"a":1,"a":1},"y":1e3})", 2, false},
                                                      {R"({"n":-1e-3,"s":"\u0001"})", 1, true},
                                                      {R"([true,null,0.50])", 1, true},
                                                      {R"("text")", 0, true}};
  for (const auto& [value, depth, storable] : kSamples) {
    const std::string text =
        std::string{R"({"before":{"a":{"b":[1e999999]}},"payload": )"} + value + R"( ,"after":[[[]]]})";
    const auto whole = outline(text, "event");
    ASSERT_TRUE(whole) << value;
    ASSERT_EQ(whole->parts.size(), 3U);
    const Part& part = whole->parts[1];
    EXPECT_EQ(part.value, value);
    EXPECT_EQ(part.measure.kind, *check(value, "value"));
    EXPECT_EQ(part.measure.depth, depth) << value;
    EXPECT_EQ(part.measure.storable, storable) << value;
    for (int limit = 0; limit < 4; ++limit) {
      EXPECT_EQ(part.measure.is_within({.depth = limit}), check(value, "value", {.depth = limit}).has_value()) << value;
    }
    for (std::size_t bytes = 1; bytes < 40; ++bytes) {
      EXPECT_EQ(part.measure.is_within({.stored_bytes = bytes}),
                check(value, "value", {.stored_bytes = bytes}).has_value())
          << value << " " << bytes;
    }
  }
}

TEST(JsonOutline, TakesApartWhatIsAskedFor) {
  const auto whole = outline(R"({"events":[{"a":1},7,{"b":{"c":2}}],"rest":{"d":3}})", "body",
                             [](int level, const Part& part) { return level == 2 || part.name == "events"; });
  ASSERT_TRUE(whole);
  ASSERT_EQ(whole->parts.size(), 2U);
  EXPECT_TRUE(whole->parts[1].parts.empty());
  const auto events = elements_of(whole->parts[0], "events");
  ASSERT_TRUE(events);
  ASSERT_EQ(events->size(), 3U);
  EXPECT_EQ((*events)[0].parts.front().name, "a");
  EXPECT_TRUE((*events)[1].parts.empty());
  EXPECT_EQ((*events)[2].parts.front().value, R"({"c":2})");
  EXPECT_TRUE((*events)[2].parts.front().parts.empty());
  EXPECT_EQ(members_of((*events)[1], "event").error().message, "event must be a JSON object");
  EXPECT_EQ(elements_of((*events)[2], "events").error().message, "events must be a JSON array");
}

}  // namespace
}  // namespace sluice::json
