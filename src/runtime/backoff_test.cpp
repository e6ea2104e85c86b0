#include "runtime/backoff.hpp"

#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, DoublesFromOneSecondToThirty) {
  Backoff backoff{BackoffLimits{}};
  for (const Duration expected : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) EXPECT_EQ(backoff.next(), expected);
}

TEST(Backoff, StartsAgainAfterASuccess) {
  Backoff backoff{{10ms, 1s}};
  backoff.next();
  backoff.next();
  backoff.reset();
  EXPECT_EQ(backoff.next(), 10ms);
}

TEST(Backoff, NeverExceedsTheCap) {
  Backoff backoff{{5s, 2s}};
  EXPECT_EQ(backoff.next(), 2s);
  Backoff longest{{Duration::max() / 3, Duration::max()}};
  for (int i = 0; i < 10; ++i) EXPECT_GT(longest.next(), 0s);
}

}  // namespace
}  // namespace sluice::runtime
