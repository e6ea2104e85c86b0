#include "store/postgres/scan_stretches.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace sluice::store {
namespace {

TEST(ScanStretches, WithoutAKnownBacklogAClaimLooksAsFarAsItMust) {
  ScanStretches stretches;
  ScanCursor cursor{40};
  EXPECT_EQ(stretches.next(cursor, 100), (Stretch{40, std::nullopt}));
  EXPECT_EQ(cursor.head(), 40);
  stretches.seen({40, {}}, {.looked_up_to = 55, .top = 55, .found = 15}, cursor);
  EXPECT_EQ(cursor.head(), 55);
  EXPECT_EQ(stretches.next(cursor, 100), (Stretch{55, std::nullopt}));
}

TEST(ScanStretches, ABacklogIsHandedOutInStretchesThatDoNotOverlap) {
  ScanStretches stretches;
  ScanCursor cursor;
  stretches.seen({0, {}}, {.looked_up_to = 100, .top = 350, .found = 100}, cursor);
  EXPECT_EQ(stretches.next(cursor, 100), (Stretch{100, 200, true}));
  EXPECT_EQ(stretches.next(cursor, 100), (Stretch{200, 300, true}));
  EXPECT_EQ(stretches.next(cursor, 100), (Stretch{300, std::nullopt})) << "less than a stretch is left";
}

TEST(ScanStretches, WhatAClaimHadNoRoomForIsHandedOutAgain) {
  ScanStretches stretches;
  ScanCursor cursor;
  stretches.seen({0, {}}, {.looked_up_to = 100, .top = 1000, .found = 100, .keyed = true}, cursor);
  const Stretch first = stretches.next(cursor, 100);
  stretches.seen(first, {.looked_up_to = 150, .top = {}, .found = 50}, cursor);
  EXPECT_EQ(stretches.next(cursor, 100), (Stretch{150, 200}));
  stretches.seen({150, 200}, {.looked_up_to = {}, .top = {}, .found = 0}, cursor);
  EXPECT_EQ(stretches.next(cursor, 100), (Stretch{150, 200})) << "events that were due took all the room";
}

TEST(ScanStretches, AFailedClaimGivesItsStretchBack) {
  ScanStretches stretches;
  ScanCursor cursor;
  stretches.seen({0, {}}, {.looked_up_to = 100, .top = 1000, .found = 100, .keyed = true}, cursor);
  const Stretch first = stretches.next(cursor, 100);
  const Stretch second = stretches.next(cursor, 100);
  stretches.failed(first);
  EXPECT_EQ(stretches.next(cursor, 100), first);
  stretches.seen(second, {.looked_up_to = 300, .top = {}, .found = 100}, cursor);
  EXPECT_EQ(stretches.next(cursor, 100), (Stretch{300, 400, true}));
}

TEST(ScanStretches, WhereHalfTheNumbersAreOthersStretchesAreTwiceAsLong) {
  ScanStretches stretches;
  ScanCursor cursor;
  stretches.seen({0, {}}, {.looked_up_to = 100, .top = 1'000'000, .found = 100}, cursor);
  Stretch stretch;
  for (int i = 0; i < 100; ++i) {
    stretch = stretches.next(cursor, 100);
    stretches.seen(stretch, {.looked_up_to = stretch.upto, .top = {}, .found = (*stretch.upto - stretch.after) / 2},
                   cursor);
  }
  EXPECT_NEAR(static_cast<double>(*stretch.upto - stretch.after), 200, 5);
}

TEST(ScanStretches, AfterEmptyStretchesAClaimLooksAsFarAsItMustAndATryFollowsLater) {
  ScanStretches stretches;
  ScanCursor cursor;
  stretches.seen({0, {}}, {.looked_up_to = 100, .top = 1'000'000, .found = 100}, cursor);
  int empty = 0;
  Stretch stretch = stretches.next(cursor, 100);
  for (; stretch.upto; stretch = stretches.next(cursor, 100), ++empty)
    stretches.seen(stretch, {.looked_up_to = stretch.upto, .top = {}, .found = 0}, cursor);
  EXPECT_LT(empty, 10);
  int far = 0;
  for (; !stretch.upto; stretch = stretches.next(cursor, 100), ++far)
    stretches.seen(stretch, {.looked_up_to = cursor.head() + 1, .top = {}, .found = 1}, cursor);
  EXPECT_GT(far, 5);
  EXPECT_LT(far, 50);
}

// A known backlog, of which the first stretch was taken whole.
class SwiftStretches : public testing::Test {
 protected:
  SwiftStretches() { stretches.seen({0, {}}, {.looked_up_to = 100, .top = 1'000'000, .found = 100}, cursor); }
  StretchView whole(const Stretch& stretch) const {
    return {.looked_up_to = stretch.upto, .found = *stretch.upto - stretch.after};
  }
  ScanStretches stretches;
  ScanCursor cursor;
};

TEST_F(SwiftStretches, FollowAStretchThatWasAllWantedEvents) {
  const Stretch stretch = stretches.next(cursor, 100);
  EXPECT_EQ(stretch, (Stretch{100, 200, true}));
  stretches.seen(stretch, whole(stretch), cursor);
  EXPECT_EQ(stretches.next(cursor, 100), (Stretch{200, 300, true}));
  EXPECT_EQ(cursor.low(), 200) << "all of them were taken: nothing can turn up below";
}

TEST_F(SwiftStretches, WhatOneLeavesBehindIsLookedAtWithLocks) {
  stretches.seen(stretches.next(cursor, 100), {.looked_up_to = 200, .found = 90}, cursor);
  EXPECT_EQ(cursor.low(), 100);
  EXPECT_EQ(stretches.next(cursor, 100), (Stretch{100, 200, false}));
  stretches.seen({100, 200}, {.looked_up_to = 200, .found = 10}, cursor);
  EXPECT_FALSE(stretches.next(cursor, 100).swift);
}

TEST_F(SwiftStretches, DoNotFollowEventsWithKeys) {
  stretches.seen({100, 200}, {.looked_up_to = 200, .found = 100, .keyed = true}, cursor);
  EXPECT_FALSE(stretches.next(cursor, 100).swift);
}

TEST_F(SwiftStretches, PauseEverLongerAfterARivalUntilTheBacklogEnds) {
  const auto slow_ones = [&] {
    stretches.failed(stretches.next(cursor, 100));
    int count = 0;
    for (Stretch stretch = stretches.next(cursor, 100); !stretch.swift; stretch = stretches.next(cursor, 100), ++count)
      stretches.seen(stretch, whole(stretch), cursor);
    return count;
  };
  const int first = slow_ones();
  EXPECT_GT(first, 50);
  const int second = slow_ones();
  EXPECT_GT(second, first);
  stretches.seen({cursor.head(), {}}, {.looked_up_to = cursor.head() + 1, .found = 1}, cursor);
  EXPECT_LE(slow_ones(), first);
}

// Claims of several workers, open at once, some failing, some cut short by what was due: every number is looked at.
TEST(ScanStretches, EveryNumberIsLookedAtInTheEnd) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random{seed};
    ScanStretches stretches;
    ScanCursor cursor;
    const std::int64_t top = 2000;
    std::set<std::int64_t> looked;
    std::vector<Stretch> open;
    const auto finish = [&](const Stretch& stretch) {
      const std::int64_t end = stretch.upto.value_or(top);
      const std::int64_t room = stretch.upto ? static_cast<std::int64_t>(random() % 60) : 50;
      if (stretch.upto && random() % 5 == 0) return stretches.failed(stretch);
      const std::int64_t reached = std::min(end, stretch.after + room);
      for (std::int64_t number = stretch.after + 1; number <= reached; ++number) looked.insert(number);
      stretches.seen(stretch, {.looked_up_to = reached, .top = top, .found = reached - stretch.after}, cursor);
    };
    for (int step = 0; step < 2000 && (cursor.head() < top || !open.empty()); ++step) {
      if (open.size() < 4 && random() % 2 == 0) {
        open.push_back(stretches.next(cursor, 50));
      } else if (!open.empty()) {
        const auto one = open.begin() + static_cast<std::ptrdiff_t>(random() % open.size());
        const Stretch stretch = *one;
        open.erase(one);
        finish(stretch);
      }
    }
    for (Stretch rest = stretches.next(cursor, 50); rest.upto || rest.after < top; rest = stretches.next(cursor, 50))
      finish(rest);
    ASSERT_EQ(looked.size(), static_cast<std::size_t>(top)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice::store
