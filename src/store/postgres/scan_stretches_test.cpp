#include "store/postgres/scan_stretches.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace sluice::store {
namespace {

// The next stretch of a process that is alone: what it wishes for is granted.
Stretch next(ScanStretches& stretches, int limit) {
  if (const auto wish = stretches.wish(limit)) stretches.granted(wish->after, wish->length);
  return stretches.next(limit);
}

TEST(ScanStretches, WithoutAKnownBacklogAClaimLooksAsFarAsItMust) {
  ScanStretches stretches{40};
  EXPECT_EQ(next(stretches, 100), (Stretch{40, std::nullopt}));
  EXPECT_EQ(stretches.head(), 40);
  stretches.seen({40, {}}, {.looked_up_to = 55, .top = 55, .found = 15});
  EXPECT_EQ(stretches.head(), 55);
  EXPECT_EQ(next(stretches, 100), (Stretch{55, std::nullopt}));
}

TEST(ScanStretches, ABacklogIsHandedOutInStretchesThatDoNotOverlap) {
  ScanStretches stretches;
  stretches.seen({0, {}}, {.looked_up_to = 100, .top = 350, .found = 100});
  EXPECT_EQ(next(stretches, 100), (Stretch{100, 200, true}));
  EXPECT_EQ(next(stretches, 100), (Stretch{200, 300, true}));
  EXPECT_EQ(next(stretches, 100), (Stretch{300, std::nullopt})) << "less than a stretch is left";
}

TEST(ScanStretches, WhatAClaimHadNoRoomForIsHandedOutAgain) {
  ScanStretches stretches;
  stretches.seen({0, {}}, {.looked_up_to = 100, .top = 1000, .found = 100, .keyed = true});
  const Stretch first = next(stretches, 100);
  stretches.seen(first, {.looked_up_to = 150, .top = {}, .found = 50});
  EXPECT_EQ(next(stretches, 100), (Stretch{150, 200}));
  stretches.seen({150, 200}, {.looked_up_to = {}, .top = {}, .found = 0});
  EXPECT_EQ(next(stretches, 100), (Stretch{150, 200})) << "events that were due took all the room";
}

TEST(ScanStretches, AFailedClaimGivesItsStretchBack) {
  ScanStretches stretches;
  stretches.seen({0, {}}, {.looked_up_to = 100, .top = 1000, .found = 100, .keyed = true});
  const Stretch first = next(stretches, 100);
  const Stretch second = next(stretches, 100);
  stretches.failed(first);
  EXPECT_EQ(next(stretches, 100), first);
  stretches.seen(second, {.looked_up_to = 300, .top = {}, .found = 100});
  EXPECT_EQ(next(stretches, 100), (Stretch{300, 400, true}));
}

TEST(ScanStretches, WhereHalfTheNumbersAreOthersStretchesAreTwiceAsLong) {
  ScanStretches stretches;
  stretches.seen({0, {}}, {.looked_up_to = 100, .top = 1'000'000, .found = 100});
  Stretch stretch;
  for (int i = 0; i < 100; ++i) {
    stretch = next(stretches, 100);
    stretches.seen(stretch, {.looked_up_to = stretch.upto, .top = {}, .found = (*stretch.upto - stretch.after) / 2});
  }
  EXPECT_NEAR(static_cast<double>(*stretch.upto - stretch.after), 200, 5);
}

TEST(ScanStretches, AfterEmptyStretchesAClaimLooksAsFarAsItMustAndATryFollowsLater) {
  ScanStretches stretches;
  stretches.seen({0, {}}, {.looked_up_to = 100, .top = 1'000'000, .found = 100});
  int empty = 0;
  Stretch stretch = next(stretches, 100);
  for (; stretch.upto; stretch = next(stretches, 100), ++empty)
    stretches.seen(stretch, {.looked_up_to = stretch.upto, .top = {}, .found = 0});
  EXPECT_LT(empty, 10);
  int far = 0;
  for (; !stretch.upto; stretch = next(stretches, 100), ++far)
    stretches.seen(stretch, {.looked_up_to = stretches.head() + 1, .top = {}, .found = 1});
  EXPECT_GT(far, 5);
  EXPECT_LT(far, 50);
}

TEST(ScanStretches, SeveralStretchesOfALongBacklogAreReservedAtOnce) {
  ScanStretches stretches;
  stretches.seen({0, {}}, {.looked_up_to = 100, .top = 1'000'000, .found = 100});
  const auto wish = stretches.wish(100);
  ASSERT_TRUE(wish);
  EXPECT_EQ(wish->after, 100);
  EXPECT_EQ(wish->length, 800);
  EXPECT_EQ(wish->top, 1'000'000);
  stretches.granted(5000, 150);
  EXPECT_FALSE(stretches.wish(100)) << "what it has comes first";
  EXPECT_EQ(stretches.next(100), (Stretch{5000, 5100, true})) << "others had the numbers before";
  EXPECT_EQ(stretches.next(100), (Stretch{5100, 5150, true}));
  EXPECT_EQ(stretches.head(), 5150);
  EXPECT_TRUE(stretches.wish(100));
}

TEST(ScanStretches, WhoIsRefusedGoesOnWhereTheOthersAreButNotBeyondWhatThereIs) {
  ScanStretches stretches;
  stretches.seen({0, {}}, {.looked_up_to = 100, .top = 1000, .found = 100});
  stretches.refused(950);
  EXPECT_EQ(stretches.next(100), (Stretch{950, std::nullopt}));
  stretches.refused(1'000'000);
  EXPECT_EQ(stretches.next(100), (Stretch{1000, std::nullopt}));
}

// A known backlog, of which the first stretch was taken whole.
class SwiftStretches : public testing::Test {
 protected:
  SwiftStretches() { stretches.seen({0, {}}, {.looked_up_to = 100, .top = 1'000'000, .found = 100}); }
  StretchView whole(const Stretch& stretch) const {
    return {.looked_up_to = stretch.upto, .found = *stretch.upto - stretch.after};
  }
  ScanStretches stretches;
};

TEST_F(SwiftStretches, FollowAStretchThatWasAllWantedEvents) {
  const Stretch stretch = next(stretches, 100);
  EXPECT_EQ(stretch, (Stretch{100, 200, true}));
  stretches.seen(stretch, whole(stretch));
  EXPECT_EQ(next(stretches, 100), (Stretch{200, 300, true}));
}

TEST_F(SwiftStretches, WhatOneLeavesBehindIsLookedAtWithLocks) {
  stretches.seen(next(stretches, 100), {.looked_up_to = 200, .found = 90});
  EXPECT_EQ(next(stretches, 100), (Stretch{100, 200, false}));
  stretches.seen({100, 200}, {.looked_up_to = 200, .found = 10});
  EXPECT_FALSE(next(stretches, 100).swift);
}

TEST_F(SwiftStretches, DoNotFollowEventsWithKeys) {
  stretches.seen({100, 200}, {.looked_up_to = 200, .found = 100, .keyed = true});
  EXPECT_FALSE(next(stretches, 100).swift);
}

TEST_F(SwiftStretches, PauseEverLongerAfterARivalUntilTheBacklogEnds) {
  const auto slow_ones = [&] {
    stretches.failed(next(stretches, 100));
    int count = 0;
    for (Stretch stretch = next(stretches, 100); !stretch.swift; stretch = next(stretches, 100), ++count)
      stretches.seen(stretch, whole(stretch));
    return count;
  };
  const int first = slow_ones();
  EXPECT_GT(first, 50);
  const int second = slow_ones();
  EXPECT_GT(second, first);
  stretches.seen({stretches.head(), {}}, {.looked_up_to = stretches.head() + 1, .found = 1});
  EXPECT_LE(slow_ones(), first);
}

// Claims of several workers, open at once, some failing, some cut short by what was due: every number is looked at.
TEST(ScanStretches, EveryNumberIsLookedAtInTheEnd) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random{seed};
    ScanStretches stretches;
    const std::int64_t top = 2000;
    std::set<std::int64_t> looked;
    std::vector<Stretch> open;
    const auto finish = [&](const Stretch& stretch) {
      const std::int64_t end = stretch.upto.value_or(top);
      const std::int64_t room = stretch.upto ? static_cast<std::int64_t>(random() % 60) : 50;
      if (stretch.upto && random() % 5 == 0) return stretches.failed(stretch);
      const std::int64_t reached = std::min(end, stretch.after + room);
      for (std::int64_t number = stretch.after + 1; number <= reached; ++number) looked.insert(number);
      stretches.seen(stretch, {.looked_up_to = reached, .top = top, .found = reached - stretch.after});
    };
    for (int step = 0; step < 2000 && (stretches.head() < top || !open.empty()); ++step) {
      if (open.size() < 4 && random() % 2 == 0) {
        open.push_back(next(stretches, 50));
      } else if (!open.empty()) {
        const auto one = open.begin() + static_cast<std::ptrdiff_t>(random() % open.size());
        const Stretch stretch = *one;
        open.erase(one);
        finish(stretch);
      }
    }
    for (Stretch rest = next(stretches, 50); rest.upto || rest.after < top; rest = next(stretches, 50)) finish(rest);
    ASSERT_EQ(looked.size(), static_cast<std::size_t>(top)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice::store
