#include "config/nearest.hpp"

#include <gtest/gtest.h>

namespace sluice::config {
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

}  // namespace
}  // namespace sluice::config
