#include "otlp/otlp.hpp"

#include <gtest/gtest.h>

namespace sluice::otlp {
namespace {

constexpr std::uint64_t kLowest = 0;
constexpr std::uint64_t kHighest = ~std::uint64_t{0};

TEST(Sampler, TheParentDecides) {
  EXPECT_FALSE(Sampler({true, 1.0}).samples(false, kHighest));
  EXPECT_TRUE(Sampler({true, 0.0}).samples(true, kLowest));
}

TEST(Sampler, WithoutAParentTheRatioDecides) {
  EXPECT_TRUE(Sampler({true, 1.0}).samples(std::nullopt, kLowest));
  EXPECT_FALSE(Sampler({true, 0.0}).samples(std::nullopt, kHighest));
  EXPECT_TRUE(Sampler({true, 0.5}).samples(std::nullopt, kHighest));
  EXPECT_FALSE(Sampler({true, 0.5}).samples(std::nullopt, kLowest));
}

TEST(Sampler, OneThatAsksNoParentGoesByTheRatioAlone) {
  EXPECT_FALSE(Sampler({false, 0.0}).samples(true, kHighest));
  EXPECT_TRUE(Sampler({false, 1.0}).samples(false, kLowest));
}

TEST(Sampler, ARatioIsTheShareOfTraces) {
  const Sampler sampler{{true, 0.01}};
  int sampled = 0;
  std::uint64_t state = 1;
  for (int i = 0; i < 100'000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    sampled += sampler.samples(std::nullopt, state ^ (state >> 29U)) ? 1 : 0;
  }
  EXPECT_NEAR(sampled, 1000, 150);
}

// The eight bits above are no part of it: the same trace is sampled the same everywhere.
TEST(Sampler, OnlyTheLowerBitsOfTheTraceCount) {
  const Sampler sampler{{true, 0.5}};
  EXPECT_FALSE(sampler.samples(std::nullopt, 0xFF00'0000'0000'0000U));
  EXPECT_TRUE(sampler.samples(std::nullopt, 0x00FF'0000'0000'0000U));
}

}  // namespace
}  // namespace sluice::otlp
