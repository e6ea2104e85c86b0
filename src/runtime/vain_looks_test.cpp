#include "runtime/vain_looks.hpp"

#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

TEST(VainLooks, KeepNoDistanceAtFirstNorAfterACheapOne) {
  VainLooks looks;
  EXPECT_EQ(looks.left(), VainLooks::Clock::duration::zero());
  looks.note(1ms);
  EXPECT_EQ(looks.left(), VainLooks::Clock::duration::zero());
}

TEST(VainLooks, KeepADistanceInProportionAndWithinItsBound) {
  VainLooks looks;
  looks.note(30s);
  EXPECT_GT(looks.left(), VainLooks::Clock::duration::zero());
  EXPECT_LE(looks.left(), VainLooks::Clock::duration{250ms});
}

TEST(VainLooks, SeveralEventsAtOnceAreGivenTimeToGather) {
  VainLooks looks;
  looks.note_few(5, 30s);
  EXPECT_GT(looks.left(), VainLooks::Clock::duration::zero());
  EXPECT_LE(looks.left(), VainLooks::Clock::duration{5ms});
}

TEST(VainLooks, ASingleEventIsNotKeptWaiting) {
  VainLooks looks;
  looks.note_few(1, 30s);
  EXPECT_EQ(looks.left(), VainLooks::Clock::duration::zero());
}

}  // namespace
}  // namespace sluice::runtime
