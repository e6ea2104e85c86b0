#include "ops/latency.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::ops {
namespace {

constexpr std::array<double, 3> kBounds{0.1, 1, 10};
using Counts = std::array<std::uint64_t, 4>;

TEST(Quantile, NothingWasCounted) { EXPECT_EQ(quantile(kBounds, Counts{}, 0.5), std::nullopt); }

TEST(Quantile, IsSpreadEvenlyWithinItsBucket) {
  const Counts counts{0, 100, 0, 0};
  EXPECT_NEAR(*quantile(kBounds, counts, 0.5), 0.55, 1e-9);
  EXPECT_NEAR(*quantile(kBounds, counts, 1.0), 1.0, 1e-9);
}

TEST(Quantile, StartsAtZero) { EXPECT_NEAR(*quantile(kBounds, Counts{10, 0, 0, 0}, 0.5), 0.05, 1e-9); }

TEST(Quantile, LiesInTheBucketThatReachesTheShare) {
  const Counts counts{90, 5, 5, 0};
  EXPECT_LE(*quantile(kBounds, counts, 0.5), 0.1);
  EXPECT_NEAR(*quantile(kBounds, counts, 0.95), 1.0, 1e-9);
  EXPECT_GT(*quantile(kBounds, counts, 0.99), 1.0);
}

TEST(Quantile, WhatIsBeyondTheLastBoundCountsAsIt) { EXPECT_EQ(quantile(kBounds, Counts{0, 0, 0, 7}, 0.5), 10.0); }

}  // namespace
}  // namespace sluice::ops
