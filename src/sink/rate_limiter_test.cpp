#include "sink/rate_limiter.hpp"

#include <gtest/gtest.h>

namespace sluice::sink {
namespace {

using namespace std::chrono_literals;

const RateLimiter::TimePoint kStart{1h};

TEST(RateLimiter, LetsInOneSecondsWorthAtOnceAndThenTheRate) {
  RateLimiter limiter{10};
  EXPECT_EQ(limiter.take(100, kStart), 10U);
  EXPECT_EQ(limiter.take(1, kStart), 0U);
  EXPECT_EQ(limiter.take(100, kStart + 500ms), 5U);
  EXPECT_EQ(limiter.take(100, kStart + 1h), 10U) << "it holds no more than a second's worth";
}

TEST(RateLimiter, TellsWhenEachOfTheOthersMayGo) {
  RateLimiter limiter{10};
  limiter.take(100, kStart);
  EXPECT_EQ(limiter.wait(0), 100ms);
  EXPECT_EQ(limiter.wait(9), 1s);
}

TEST(RateLimiter, ASlowRateStillLetsOneIn) {
  RateLimiter limiter{0.5};
  EXPECT_EQ(limiter.take(3, kStart), 1U);
  EXPECT_EQ(limiter.wait(0), 2s);
  EXPECT_EQ(limiter.take(3, kStart + 1s), 0U);
  EXPECT_EQ(limiter.take(3, kStart + 2s), 1U);
}

TEST(RateLimiter, AClockThatStandsStillOrGoesBackGivesNothing) {
  RateLimiter limiter{1};
  EXPECT_EQ(limiter.take(1, kStart), 1U);
  EXPECT_EQ(limiter.take(1, kStart - 1s), 0U);
  EXPECT_EQ(limiter.take(1, kStart + 1s), 1U);
}

}  // namespace
}  // namespace sluice::sink
