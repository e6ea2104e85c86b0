#include "store/postgres/pending_walk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace sluice::store {
namespace {

using testing::ElementsAre;

/// A table of numbered events and the transactions around it.
class PendingWalkTest : public testing::Test {
 protected:
  void insert(std::int64_t first, std::int64_t last) {
    for (std::int64_t number = first; number <= last; ++number) pending[number] = true;
  }
  void deliver(std::int64_t first, std::int64_t last) {
    for (std::int64_t number = first; number <= last; ++number) pending[number] = false;
  }

  PendingLook look(std::int64_t above, std::int64_t upto) const {
    PendingLook seen;
    for (auto row = pending.upper_bound(above); row != pending.end() && row->first <= upto; ++row) {
      if (seen.looked == PendingWalk::kLookRows) break;
      ++seen.looked;
      seen.last = row->first;
      if (!row->second) continue;
      ++seen.pending;
      if (seen.numbers.size() <= most) seen.numbers.push_back(row->first);
    }
    return seen;
  }

  /// One round, in which `running` is the oldest transaction and the next one gets the id `next`.
  std::int64_t round(PendingWalk& walk, std::int64_t running, std::int64_t next,
                     PendingWalk::Reach reach = PendingWalk::Reach::some) {
    constexpr std::int64_t kEnd = 1'000'000'000;
    walk.begin(reach);
    std::vector<std::int64_t> still;
    for (const std::int64_t number : walk.remembered()) {
      if (pending[number]) still.push_back(number);
    }
    walk.reopen(still, {});
    while (const auto above = walk.look_above()) {
      looks.push_back(*above);
      walk.looked(look(*above, kEnd));
    }
    while (const auto history = walk.history()) walk.looked_at_history(look(history->above, history->upto));
    walk.end({running, next - 1});
    return walk.count(pending.empty() ? 0 : pending.rbegin()->first);
  }

  std::size_t most = 100;
  std::map<std::int64_t, bool> pending;
  std::vector<std::int64_t> looks;
};

TEST_F(PendingWalkTest, CountsWhatIsPendingRoundAfterRound) {
  PendingWalk walk{0, most};
  EXPECT_EQ(round(walk, 1, 1), 0);
  insert(1, 10);
  EXPECT_EQ(round(walk, 5, 5), 10);
  EXPECT_EQ(round(walk, 5, 5), 10);
  deliver(1, 4);
  EXPECT_EQ(round(walk, 6, 6), 6);
  insert(11, 12);
  deliver(5, 11);
  EXPECT_EQ(round(walk, 7, 7), 1);
}

TEST_F(PendingWalkTest, WhatNobodyTakesIsRememberedAndNotWalkedOverAgain) {
  PendingWalk walk{0, most};
  insert(1, 1000);
  deliver(2, 1000);
  for (std::int64_t n = 2; n < 6; ++n) round(walk, n, n);
  EXPECT_THAT(walk.remembered(), ElementsAre(1));
  EXPECT_EQ(looks.back(), 1000);
  EXPECT_EQ(round(walk, 9, 9), 1);
  deliver(1, 1);
  EXPECT_EQ(round(walk, 9, 9), 0);
}

TEST_F(PendingWalkTest, ANumberThatIsCommittedLateIsFound) {
  PendingWalk walk{0, most};
  insert(2, 5);
  deliver(2, 5);
  // Transaction 7 has drawn number 1 and runs on.
  EXPECT_EQ(round(walk, 7, 9), 0);
  EXPECT_EQ(round(walk, 7, 9), 0);
  EXPECT_EQ(round(walk, 7, 9), 0);
  insert(1, 1);
  EXPECT_EQ(round(walk, 9, 9), 1);
  EXPECT_EQ(round(walk, 9, 9), 1);
  EXPECT_THAT(walk.remembered(), ElementsAre(1));
}

TEST_F(PendingWalkTest, MoreThanCanBeRememberedStaysAhead) {
  PendingWalk walk{0, most};
  insert(1, 250);
  for (std::int64_t n = 2; n < 8; ++n) EXPECT_EQ(round(walk, n, n), 250);
  EXPECT_EQ(walk.remembered().size(), most);
  deliver(1, 240);
  EXPECT_EQ(round(walk, 9, 9), 10);
  EXPECT_EQ(round(walk, 9, 9), 10);
}

TEST_F(PendingWalkTest, AHugeBacklogIsEstimatedAfterOneLook) {
  PendingWalk walk{0, most};
  insert(1, 4 * PendingWalk::kLookRows);
  EXPECT_EQ(round(walk, 2, 2), 4 * PendingWalk::kLookRows);
  EXPECT_THAT(looks, ElementsAre(0));
}

TEST_F(PendingWalkTest, WhatIsDoneIsWalkedOverInTheSameRound) {
  PendingWalk walk{0, most};
  insert(1, 3 * PendingWalk::kLookRows);
  deliver(1, 3 * PendingWalk::kLookRows - 5);
  EXPECT_EQ(round(walk, 2, 2), 5);
  EXPECT_EQ(looks.size(), 4U);
}

TEST_F(PendingWalkTest, TheHistoryIsReadInParts) {
  const std::int64_t long_ago = 2 * PendingWalk::kLookRows;
  insert(1, long_ago + 10);
  deliver(1, long_ago + 10);
  pending[3] = true;
  pending[long_ago - 3] = true;
  PendingWalk walk{long_ago, most};
  EXPECT_EQ(round(walk, 2, 2), 1);
  EXPECT_EQ(round(walk, 2, 2), 2);
  EXPECT_EQ(round(walk, 2, 2), 2);
  EXPECT_FALSE(walk.history());
}

TEST_F(PendingWalkTest, WhatTheHistoryHasNoRoomForIsFoundLater) {
  insert(1, 250);
  PendingWalk walk{250, most};
  round(walk, 2, 2, PendingWalk::Reach::the_end);
  EXPECT_FALSE(walk.complete());
  deliver(1, 240);
  EXPECT_EQ(round(walk, 3, 3, PendingWalk::Reach::the_end), 10);
  EXPECT_TRUE(walk.complete());
}

TEST_F(PendingWalkTest, ToTheEndNothingIsMissed) {
  const std::int64_t many = 8 * PendingWalk::kLookRows;
  insert(1, 2 * many);
  deliver(1, 2 * many);
  pending[7] = pending[many - 7] = pending[2 * many - 7] = true;
  PendingWalk few{many, most};
  EXPECT_LT(round(few, 2, 2), 3);
  EXPECT_FALSE(few.complete());
  PendingWalk walk{many, most};
  EXPECT_EQ(round(walk, 2, 2, PendingWalk::Reach::the_end), 3);
  EXPECT_TRUE(walk.complete());
  EXPECT_THAT(walk.found(), ElementsAre(7, many - 7, 2 * many - 7));
}

TEST_F(PendingWalkTest, ToTheEndIsNoFurtherThanToMoreThanCanBeRemembered) {
  const std::int64_t many = 20 * PendingWalk::kLookRows;
  insert(1, many);
  deliver(200, many);
  PendingWalk walk{0, most};
  EXPECT_EQ(round(walk, 2, 2, PendingWalk::Reach::the_end), 199);
  EXPECT_FALSE(walk.complete());
  EXPECT_EQ(looks.size(), static_cast<std::size_t>(PendingWalk::kLooks));
}

TEST_F(PendingWalkTest, WhatWasReadAtOnceNeedsNoLook) {
  insert(1, 1000);
  deliver(4, 999);
  PendingWalk walk{500, most};
  EXPECT_EQ(walk.unread(1, 1000), 1000);
  walk.begin(PendingWalk::Reach::the_end);
  ASSERT_TRUE(walk.read_all(1000, {1, 2, 3, 1000}));
  EXPECT_FALSE(walk.look_above());
  EXPECT_FALSE(walk.history());
  walk.end({5, 4});
  EXPECT_TRUE(walk.complete());
  EXPECT_EQ(walk.count(1000), 4);
  EXPECT_THAT(walk.found(), ElementsAre(1, 2, 3, 1000));
  EXPECT_EQ(walk.unread(1, 1000), 0) << "nobody writes: nothing can come late";
  deliver(2, 3);
  EXPECT_EQ(round(walk, 5, 5), 2);
}

TEST_F(PendingWalkTest, MoreThanCanBeRememberedIsNotTakenAtOnce) {
  PendingWalk walk{0, 3};
  walk.begin(PendingWalk::Reach::the_end);
  EXPECT_FALSE(walk.read_all(4, {1, 2, 3, 4}));
  EXPECT_TRUE(walk.look_above());
}

TEST_F(PendingWalkTest, WhatARoundDidNotReachStaysAheadOfTheWalk) {
  const std::int64_t reach = PendingWalk::kLooks * PendingWalk::kLookRows;
  insert(2, reach + 1);
  deliver(2, reach);
  PendingWalk walk{0, most};
  EXPECT_EQ(round(walk, 7, 9), 1);
  // Number 1 came late: the next round ends just before the last.
  insert(1, 1);
  round(walk, 9, 9);
  EXPECT_EQ(round(walk, 9, 9), 2);
}

}  // namespace
}  // namespace sluice::store
