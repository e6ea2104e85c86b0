#include "runtime/backoff.hpp"

#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

TEST(IdleBackoff, IsNoneAtFirstNorAfterACheapClaim) {
  IdleBackoff backoff;
  EXPECT_EQ(backoff.left(), IdleBackoff::Clock::duration::zero());
  backoff.found_nothing(1ms);
  EXPECT_EQ(backoff.left(), IdleBackoff::Clock::duration::zero());
}

TEST(IdleBackoff, IsInProportionAndWithinItsBound) {
  IdleBackoff backoff;
  backoff.found_nothing(30s);
  EXPECT_GT(backoff.left(), IdleBackoff::Clock::duration::zero());
  EXPECT_LE(backoff.left(), IdleBackoff::Clock::duration{250ms});
}

TEST(IdleBackoff, SeveralEventsAtOnceAreGivenTimeToGather) {
  IdleBackoff backoff;
  backoff.found_few(5, 30s);
  EXPECT_GT(backoff.left(), IdleBackoff::Clock::duration::zero());
  EXPECT_LE(backoff.left(), IdleBackoff::Clock::duration{5ms});
}

TEST(IdleBackoff, ASingleEventIsNotKeptWaiting) {
  IdleBackoff backoff;
  backoff.found_few(1, 30s);
  EXPECT_EQ(backoff.left(), IdleBackoff::Clock::duration::zero());
}

}  // namespace
}  // namespace sluice::runtime
