#include <gtest/gtest.h>
#include <climits>
#include <cmath>
#include <limits>
#include <random>

#include <sluice/retry_policy.hpp>

namespace sluice {
namespace {

using namespace std::chrono_literals;

RetryPolicy without_jitter() {
  RetryPolicy policy;
  policy.jitter = Jitter::none;
  return policy;
}

TEST(RetryPolicy, StandardBoundsDoubleFromOneSecondToTheCap) {
  const RetryPolicy policy = RetryPolicy::standard();
  EXPECT_EQ(policy.max_attempts, 5);
  EXPECT_EQ(policy.jitter, Jitter::full);
  EXPECT_EQ(policy.bound(1), 1s);
  EXPECT_EQ(policy.bound(2), 2s);
  EXPECT_EQ(policy.bound(3), 4s);
  EXPECT_EQ(policy.bound(4), 8s);
  EXPECT_EQ(policy.bound(9), 256s);
  EXPECT_EQ(policy.bound(10), 300s);
}

TEST(RetryPolicy, InboxDelaysAreExactlyTheSequence) {
  const RetryPolicy policy = RetryPolicy::inbox();
  EXPECT_EQ(policy.max_attempts, 5);
  EXPECT_EQ(policy.delay(1, 0.3), 10s);
  EXPECT_EQ(policy.delay(2, 0.3), 20s);
  EXPECT_EQ(policy.delay(3, 0.3), 40s);
  EXPECT_EQ(policy.delay(4, 0.3), 80s);
  EXPECT_EQ(policy.delay(6, 0.3), 300s);
  EXPECT_EQ(policy.delay(1000, 0.3), 300s);
}

TEST(RetryPolicy, NothingOverflows) {
  for (const RetryPolicy& policy : {RetryPolicy::standard(), RetryPolicy::inbox()}) {
    for (const int attempts : {63, 64, 1000, INT_MAX - 1, INT_MAX}) EXPECT_EQ(policy.bound(attempts), policy.cap);
  }
  RetryPolicy huge = without_jitter();
  huge.multiplier = std::numeric_limits<double>::max();
  huge.cap = Duration::max();
  EXPECT_EQ(huge.delay(INT_MAX, 0.0), Duration::max());
}

TEST(RetryPolicy, AttemptsBelowOneCountAsOne) {
  EXPECT_EQ(RetryPolicy::standard().bound(0), 1s);
  EXPECT_EQ(RetryPolicy::standard().bound(INT_MIN), 1s);
}

TEST(RetryPolicy, AMultiplierOfOneStaysAtTheBase) {
  RetryPolicy policy = without_jitter();
  policy.multiplier = 1.0;
  policy.base = 7s;
  EXPECT_EQ(policy.delay(1, 0.0), 7s);
  EXPECT_EQ(policy.delay(INT_MAX, 0.0), 7s);
}

TEST(RetryPolicy, FullJitterStaysWithinTheBound) {
  std::mt19937_64 random{17};
  std::uniform_real_distribution<double> uniform{0.0, 1.0};
  const RetryPolicy policy;
  for (int i = 0; i < 100'000; ++i) {
    const int attempts = 1 + static_cast<int>(random() % 2000);
    const Duration delay = policy.delay(attempts, uniform(random));
    ASSERT_GE(delay, 0s);
    ASSERT_LE(delay, policy.bound(attempts));
    ASSERT_LE(delay, policy.cap);
  }
}

TEST(RetryPolicy, FullJitterAveragesHalfTheBound) {
  std::mt19937_64 random{19};
  std::uniform_real_distribution<double> uniform{0.0, 1.0};
  const RetryPolicy policy;
  for (const int attempts : {1, 4, 10}) {
    double sum = 0;
    constexpr int samples = 100'000;
    for (int i = 0; i < samples; ++i) sum += static_cast<double>(policy.delay(attempts, uniform(random)).count());
    const double bound = static_cast<double>(policy.bound(attempts).count());
    EXPECT_NEAR(sum / samples, bound / 2, bound * 0.01) << attempts;
  }
}

TEST(RetryPolicy, BoundsNeverShrink) {
  std::mt19937_64 random{23};
  for (int i = 0; i < 200; ++i) {
    RetryPolicy policy;
    policy.base = Duration{1 + static_cast<Duration::rep>(random() % 10'000'000)};
    policy.multiplier = 1.0 + static_cast<double>(random() % 500) / 100.0;
    policy.cap = policy.base + Duration{static_cast<Duration::rep>(random() % 1'000'000'000)};
    ASSERT_TRUE(policy.validate());
    for (int attempts = 1; attempts < 100; ++attempts) {
      ASSERT_LE(policy.bound(attempts), policy.bound(attempts + 1));
      ASSERT_GE(policy.bound(attempts), policy.base);
      ASSERT_LE(policy.bound(attempts), policy.cap);
    }
  }
}

TEST(RetryPolicy, AStrangeRandomNumberCannotBreakTheBound) {
  const RetryPolicy policy;
  EXPECT_EQ(policy.delay(1, -1.0), 0s);
  EXPECT_EQ(policy.delay(1, std::nan("")), 0s);
  EXPECT_EQ(policy.delay(1, 2.0), 1s);
}

TEST(RetryPolicy, ValidateNamesTheMember) {
  const auto field_of = [](auto change) {
    RetryPolicy policy;
    change(policy);
    const auto checked = policy.validate();
    return checked ? std::string{} : checked.error().field;
  };
  EXPECT_EQ(field_of([](RetryPolicy&) {}), "");
  EXPECT_EQ(field_of([](RetryPolicy& p) { p.max_attempts = 0; }), "max_attempts");
  EXPECT_EQ(field_of([](RetryPolicy& p) { p.base = 0s; }), "base");
  EXPECT_EQ(field_of([](RetryPolicy& p) { p.base = -1s; }), "base");
  EXPECT_EQ(field_of([](RetryPolicy& p) { p.multiplier = 0.99; }), "multiplier");
  EXPECT_EQ(field_of([](RetryPolicy& p) { p.multiplier = std::nan(""); }), "multiplier");
  EXPECT_EQ(field_of([](RetryPolicy& p) { p.multiplier = INFINITY; }), "multiplier");
  EXPECT_EQ(field_of([](RetryPolicy& p) { p.cap = 999ms; }), "cap");
  EXPECT_EQ(field_of([](RetryPolicy& p) { p.cap = p.base; }), "");
  EXPECT_TRUE(RetryPolicy::inbox().validate());
}

}  // namespace
}  // namespace sluice
