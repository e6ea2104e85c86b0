#include "core/utf8.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Utf8, AcceptsCharactersOfEveryLength) {
  EXPECT_EQ(utf8::length_at("a", 0), 1U);
  EXPECT_EQ(utf8::length_at("\xC2\x80", 0), 2U);
  EXPECT_EQ(utf8::length_at("\xE0\xA0\x80", 0), 3U);
  EXPECT_EQ(utf8::length_at("\xF0\x90\x80\x80", 0), 4U);
  EXPECT_TRUE(utf8::is_valid("Grüße, 世界 🌍"));
}

TEST(Utf8, RefusesWhatIsNotWellFormed) {
  for (const std::string_view bad :
       {"\x80", "\xC0\xAF", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\xED\xA0\x80", "\xED\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3", "\xE2\x82", "\xF0\x9F\x8C", "\xC3(", "\xE2\x82("}) {
    EXPECT_EQ(utf8::length_at(bad, 0), 0U) << testing::PrintToString(bad);
    EXPECT_FALSE(utf8::is_valid(bad));
  }
}

TEST(Utf8, PrefixNeverCutsACharacter) {
  const std::string_view text = "a€b";
  EXPECT_EQ(utf8::prefix(text, 5), text);
  EXPECT_EQ(utf8::prefix(text, 4), "a€");
  EXPECT_EQ(utf8::prefix(text, 3), "a");
  EXPECT_EQ(utf8::prefix(text, 2), "a");
  EXPECT_EQ(utf8::prefix(text, 0), "");
}

TEST(Utf8, AppendedCodePointsAreWellFormed) {
  for (const char32_t code_point : {U'a', U'é', U'€', U'🌍', U'\U0010FFFF'}) {
    std::string out;
    utf8::append_code_point(out, code_point);
    EXPECT_EQ(utf8::length_at(out, 0), out.size());
  }
  std::string globe;
  utf8::append_code_point(globe, U'🌍');
  EXPECT_EQ(globe, "🌍");
}

}  // namespace
}  // namespace sluice
