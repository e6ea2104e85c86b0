#include "sink/pace.hpp"

#include <gtest/gtest.h>

namespace sluice::sink {
namespace {

using namespace std::chrono_literals;

class PaceTest : public testing::Test {
 protected:
  std::vector<Verdict> deliver(std::size_t count) {
    const std::vector<EventEnvelope> events(count, EventEnvelope::trusted({}));
    return pace.deliver(events, [this](Pace::Events some) {
      ++calls;
      return std::vector<Verdict>(some.size());
    });
  }

  Duration passed{};
  int calls = 0;
  Pace pace{2, [this] { return RateLimiter::TimePoint{1h + passed}; }};
};

TEST_F(PaceTest, DefersWhatIsBeyondTheRateToItsTurn) {
  const auto verdicts = deliver(4);
  ASSERT_EQ(verdicts.size(), 4U);
  EXPECT_EQ(verdicts[1].kind, Verdict::Kind::handled);
  EXPECT_EQ(verdicts[2].kind, Verdict::Kind::deferred);
  EXPECT_EQ(verdicts[2].retry_after, 500ms);
  EXPECT_EQ(verdicts[3].retry_after, 1s);
}

TEST_F(PaceTest, DeliversNothingWhenNothingMayGo) {
  deliver(2);
  EXPECT_EQ(deliver(1)[0].kind, Verdict::Kind::deferred);
  EXPECT_EQ(calls, 1);
  passed = 500ms;
  EXPECT_EQ(deliver(1)[0].kind, Verdict::Kind::handled);
}

TEST(Pace, WithoutARateNothingWaits) {
  Pace pace{0};
  const std::vector<EventEnvelope> events(5000, EventEnvelope::trusted({}));
  const auto verdicts = pace.deliver(events, [](Pace::Events some) { return std::vector<Verdict>(some.size()); });
  EXPECT_EQ(verdicts.back().kind, Verdict::Kind::handled);
}

}  // namespace

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
