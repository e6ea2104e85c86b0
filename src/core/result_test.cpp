#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <sluice/result.hpp>

namespace sluice {
namespace {

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = 7;
  ASSERT_TRUE(good.has_value());
  EXPECT_EQ(*good, 7);

  const Result<int> bad = invalid("limit", "limit must be at least 1");
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().code, ErrorCode::invalid);
  EXPECT_EQ(bad.error().retry, Retry::never);
  EXPECT_EQ(bad.error().field, "limit");
  EXPECT_EQ(bad.error().message, "limit must be at least 1");
}

TEST(Result, OfVoidIsGoodUnlessGivenAnError) {
  EXPECT_TRUE(Result<void>{}.has_value());
  EXPECT_FALSE(Result<void>{invalid("a", "b")}.has_value());
}

TEST(Result, MovesOutWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> owned = std::make_unique<int>(3);
  const std::unique_ptr<int> taken = std::move(owned).value();
  EXPECT_EQ(*taken, 3);
}

// A reference into it would be gone before the first round.
TEST(Result, ALoopOverAnAnswerKeepsItAlive) {
  const auto answer = [] { return Result<std::vector<std::string>>{{std::string(40, 'a'), std::string(40, 'b')}}; };
  std::string all;
  for (const std::string& each : answer().value()) all += each;
  for (const std::string& each : *answer()) all += each;
  EXPECT_EQ(all, std::string(40, 'a') + std::string(40, 'b') + std::string(40, 'a') + std::string(40, 'b'));
  static_assert(std::is_same_v<decltype(answer().value()), std::vector<std::string>>);
}

TEST(ErrorCode, EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    names.insert(name(static_cast<ErrorCode>(code)));
  }
  EXPECT_EQ(names.size(), 11U);
  EXPECT_EQ(name(ErrorCode::read_only), "read_only");
}

TEST(Retry, NamesTellWhatMayBeDoneNext) {
  EXPECT_EQ(name(Retry::never), "never");
  EXPECT_EQ(name(Retry::safe), "safe");
  EXPECT_EQ(name(Retry::in_doubt), "in_doubt");
}

}  // namespace
}  // namespace sluice
