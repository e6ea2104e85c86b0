#include "mcp/harmless.hpp"

#include <gtest/gtest.h>

namespace sluice::mcp {
namespace {

TEST(Harmless, ControlCharactersAreGoneAndLongTextsCut) {
  EXPECT_EQ(harmless("a\033[31m\nb"), "a[31m b");
  const std::string cut = harmless(std::string(5000, 'x'));
  EXPECT_EQ(cut.size(), kHarmlessBytes);
  EXPECT_TRUE(cut.ends_with("x…"));
  EXPECT_EQ(harmless(std::string(kHarmlessBytes, 'x')), std::string(kHarmlessBytes, 'x'));
}

TEST(Harmless, EveryStringAndNameOfAValueAndNothingElse) {
  EXPECT_EQ(harmless_json(R"({"a\u001b":"x\u001b[2Jy","n":9007199254740993,"l":["\u202e",true,null,{}],"e":[]})"),
            R"({"a":"x[2Jy","n":9007199254740993,"l":["",true,null,{}],"e":[]})");
}

TEST(Harmless, WhatCannotBeReadBecomesText) {
  EXPECT_EQ(harmless_json("{broken"), R"("{broken")");
  EXPECT_EQ(harmless_json(R"({"a":{"x":1,"x":2}})"), R"({"a":"{\"x\":1,\"x\":2}"})");
}

}  // namespace
}  // namespace sluice::mcp
