#include "core/alert.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

FailureNotice failure(const std::string& fingerprint, int number = 0) {
  FailureNotice notice;
  notice.fingerprint = fingerprint;
  notice.attempts = number;
  return notice;
}

class AlertThrottling : public testing::Test {
 protected:
  std::optional<AlertThrottle::Passed> offer(const std::string& fingerprint, int number = 0) {
    return throttle.offer(failure(fingerprint, number), now);
  }

  AlertThrottle throttle{{5min, 3}};
  AlertThrottle::TimePoint now{1h};
};

TEST_F(AlertThrottling, TheFirstOfAFingerprintPassesAtOnce) {
  const auto passed = offer("a", 7);
  ASSERT_TRUE(passed);
  EXPECT_EQ(passed->failure.attempts, 7);
  EXPECT_EQ(passed->suppressed, 0);
  EXPECT_TRUE(offer("b"));
}

TEST_F(AlertThrottling, TheOthersWaitForTheWindowToClose) {
  ASSERT_TRUE(offer("a"));
  EXPECT_FALSE(offer("a", 1));
  now += 299s;
  EXPECT_FALSE(offer("a", 2));
  EXPECT_TRUE(throttle.close(now).empty());
  EXPECT_EQ(throttle.next_close(), now + 1s);
  EXPECT_EQ(throttle.held_back(), 2);

  now += 1s;
  const auto closed = throttle.close(now);
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_EQ(closed[0].failure.attempts, 2) << "the latest stands for the others";
  EXPECT_EQ(closed[0].suppressed, 1);
}

TEST_F(AlertThrottling, ASummaryOpensTheNextWindow) {
  ASSERT_TRUE(offer("a"));
  ASSERT_FALSE(offer("a"));
  now += 5min;
  ASSERT_EQ(throttle.close(now).size(), 1U);
  EXPECT_FALSE(offer("a"));
  now += 5min;
  EXPECT_EQ(throttle.close(now).size(), 1U);
}

TEST_F(AlertThrottling, AWindowThatHeldNothingBackIsForgotten) {
  ASSERT_TRUE(offer("a"));
  now += 5min;
  EXPECT_TRUE(throttle.close(now).empty());
  EXPECT_EQ(throttle.next_close(), std::nullopt);
  EXPECT_TRUE(offer("a"));
}

TEST_F(AlertThrottling, AFailureThatComesBeforeTheLateCloseTakesTheOthersAlong) {
  ASSERT_TRUE(offer("a"));
  ASSERT_FALSE(offer("a"));
  ASSERT_FALSE(offer("a"));
  now += 6min;
  const auto passed = offer("a", 9);
  ASSERT_TRUE(passed);
  EXPECT_EQ(passed->failure.attempts, 9);
  EXPECT_EQ(passed->suppressed, 2);
  EXPECT_TRUE(throttle.close(now).empty());
}

TEST_F(AlertThrottling, MoreFingerprintsThanTheBoundShareAWindow) {
  EXPECT_TRUE(offer("a"));
  EXPECT_TRUE(offer("b"));
  EXPECT_TRUE(offer("c"));
  EXPECT_TRUE(offer("d")) << "the first of those that share";
  EXPECT_FALSE(offer("e"));
  EXPECT_FALSE(offer("f", 6));
  EXPECT_FALSE(offer("a"));
  now += 5min;
  const auto closed = throttle.close(now);
  ASSERT_EQ(closed.size(), 2U);
  EXPECT_EQ(closed[1].failure.fingerprint, "f");
  EXPECT_EQ(closed[1].suppressed, 1);
}

TEST_F(AlertThrottling, EveryFailureIsReportedOrCounted) {
  std::int64_t reported = 0;
  const auto count = [&](const AlertThrottle::Passed& passed) { reported += 1 + passed.suppressed; };
  for (int i = 0; i < 1000; ++i) {
    now += 1s;
    for (const auto& passed : throttle.close(now)) count(passed);
    if (const auto passed = offer(std::string(1, static_cast<char>('a' + i % 7)))) count(*passed);
  }
  for (const auto& passed : throttle.close_all()) count(passed);
  EXPECT_EQ(reported, 1000);
  EXPECT_EQ(throttle.next_close(), std::nullopt);
}

}  // namespace
}  // namespace sluice
