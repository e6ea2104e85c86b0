#include "core/words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

const std::vector<std::string_view> kWords{"publish", "status", "version", "--source", "--store"};

TEST(Nearest, FindsOneTypo) { EXPECT_EQ(nearest("pubish", kWords), "publish"); }

TEST(Nearest, CountsSwappedNeighboursAsOneEdit) { EXPECT_EQ(nearest("stauts", kWords), "status"); }

TEST(Nearest, PrefersTheCloserWord) { EXPECT_EQ(nearest("--stor", kWords), "--store"); }

TEST(Nearest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("frobnicate", kWords), std::nullopt);
  EXPECT_EQ(nearest("", kWords), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
}

TEST(Nearest, DoesNotReplaceAWholeShortWord) { EXPECT_EQ(nearest("a", {"b"}), std::nullopt); }

TEST(Words, AreTakenApart) {
  EXPECT_THAT(split("a,,b", ','), testing::ElementsAre("a", "", "b"));
  EXPECT_THAT(split("", ','), testing::ElementsAre(""));
  EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
}

TEST(Words, AreComparedInAsciiOnly) {
  EXPECT_EQ(lower_case("Retry-AFTER Ä"), "retry-after Ä");
  EXPECT_TRUE(is_same_ignoring_case("Retry-After", "retry-AFTER"));
  EXPECT_FALSE(is_same_ignoring_case("Retry-After", "retry-after:"));
  EXPECT_TRUE(is_digits("0123456789"));
  EXPECT_FALSE(is_digits(""));
  EXPECT_FALSE(is_digits("12a"));
}

TEST(Words, PercentSigns) {
  for (const BadEscape bad : {BadEscape::refused, BadEscape::kept}) {
    EXPECT_EQ(percent_decoded("a%20b%C3%bc+", bad), "a b\xC3\xBC+");
    EXPECT_EQ(percent_decoded("", bad), "");
  }
  for (const char* text : {"%", "a%2", "%zz", "100%", "%2g"}) {
    EXPECT_EQ(percent_decoded(text, BadEscape::kept), text);
    EXPECT_FALSE(percent_decoded(text, BadEscape::refused)) << text;
  }
}

TEST(Words, WhatSomethingTook) {
  EXPECT_EQ(brief_duration(Duration{0}), "0 ms");
  EXPECT_EQ(brief_duration(Duration{430}), "0.4 ms");
  EXPECT_EQ(brief_duration(Duration{12'300}), "12 ms");
  EXPECT_EQ(brief_duration(Duration{1'240'000}), "1.2 s");
  EXPECT_EQ(brief_duration(Duration{95'000'000}), "95 s");
}

}  // namespace
}  // namespace sluice
