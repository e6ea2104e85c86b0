#include "store/postgres/scan_cursor.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace sluice::store {
namespace {

TEST(ScanCursor, StartsAtTheSavedLow) {
  const ScanCursor cursor{40};
  EXPECT_EQ(cursor.head(), 40);
  EXPECT_EQ(cursor.low(), 40);
}

TEST(ScanCursor, LowFollowsHeadOnlyAfterRunningTransactionsEnded) {
  ScanCursor cursor;
  cursor.looked_up_to(10);
  EXPECT_FALSE(cursor.gap_seen({.oldest_running = 5, .first_open = {}, .drawn = 9}, 10))
      << "first look only sets the mark";
  EXPECT_FALSE(cursor.gap_seen({.oldest_running = 7, .first_open = {}, .drawn = 12}, 10))
      << "transaction 7 may still hold a number";
  EXPECT_EQ(cursor.low(), 0);
  EXPECT_TRUE(cursor.gap_seen({.oldest_running = 10, .first_open = {}, .drawn = 15}, 10));
  EXPECT_EQ(cursor.low(), 10);
}

TEST(ScanCursor, SomethingOpenBelowHoldsLowBack) {
  ScanCursor cursor;
  cursor.looked_up_to(10);
  (void)cursor.gap_seen({.oldest_running = 5, .first_open = {}, .drawn = 9}, 10);
  EXPECT_TRUE(cursor.gap_seen({.oldest_running = 20, .first_open = 4, .drawn = 21}, 10));
  EXPECT_EQ(cursor.low(), 3);
}

TEST(ScanCursor, TheFirstLookReadsNothing) {
  ScanCursor cursor;
  cursor.looked_up_to(1'000'000);
  EXPECT_EQ(cursor.look_up_to(true), 0);
  EXPECT_EQ(cursor.look_up_to(false), 0);
  (void)cursor.gap_seen({.oldest_running = 5, .first_open = {}, .drawn = 9}, 1'000'000);
  EXPECT_EQ(cursor.look_up_to(true), 1'000'000);
  EXPECT_EQ(cursor.look_up_to(false), 1'000'000);
}

TEST(ScanCursor, WhileThereIsWorkALookReadsOnlyWhatLowMayPass) {
  ScanCursor cursor{10};
  cursor.looked_up_to(50);
  EXPECT_EQ(cursor.look_up_to(false), 10);
  (void)cursor.gap_seen({.oldest_running = 5, .first_open = {}, .drawn = 9}, 50);
  cursor.looked_up_to(90);
  EXPECT_EQ(cursor.look_up_to(false), 50);
  EXPECT_EQ(cursor.look_up_to(true), 90);
}

TEST(ScanCursor, HeadNeverMovesBack) {
  ScanCursor cursor;
  cursor.looked_up_to(10);
  cursor.looked_up_to(7);
  EXPECT_EQ(cursor.head(), 10);
}

TEST(ScanCursor, LowMovesOverNumbersThatWereAllTakenWithoutALook) {
  ScanCursor cursor{10};
  cursor.looked_up_to(30);
  cursor.taken_whole(20, 30);
  EXPECT_EQ(cursor.low(), 10) << "what lies between is not known";
  cursor.taken_whole(10, 20);
  EXPECT_EQ(cursor.low(), 30);
}

TEST(ScanCursor, RunsThatMeetAreOne) {
  ScanCursor cursor;
  cursor.taken_whole(50, 60);
  cursor.taken_whole(30, 40);
  cursor.taken_whole(40, 50);
  cursor.taken_whole(80, 90);
  cursor.taken_whole(0, 30);
  EXPECT_EQ(cursor.low(), 60);
  cursor.taken_whole(55, 80);
  EXPECT_EQ(cursor.low(), 90);
}

TEST(ScanCursor, ALookThatMovesLowToARunMovesItOverTheRun) {
  ScanCursor cursor;
  cursor.looked_up_to(10);
  (void)cursor.gap_seen({.oldest_running = 5, .first_open = {}, .drawn = 9}, 10);
  cursor.looked_up_to(20);
  cursor.taken_whole(10, 20);
  EXPECT_EQ(cursor.low(), 0);
  EXPECT_TRUE(cursor.gap_seen({.oldest_running = 10, .first_open = {}, .drawn = 15}, 20));
  EXPECT_EQ(cursor.low(), 20);
}

TEST(ScanCursor, RunsThatAreTooManyAreLookedAtAgain) {
  ScanCursor cursor;
  for (std::int64_t run = 1; run <= 1000; ++run) cursor.taken_whole(10 * run, 10 * run + 5);
  cursor.taken_whole(0, 10);
  EXPECT_EQ(cursor.low(), 15);
  for (std::int64_t run = 1; run <= 1000; ++run) cursor.taken_whole(10 * run + 5, 10 * run + 10);
  EXPECT_GE(cursor.low(), 2560);
}

// A model of the database: transactions get an id, draw numbers, and commit or roll back in any order.
// A worker claims above head and looks at the gap. Whatever commits must be found, and low must never
// pass a number that is still to be committed.
class ScanModel {
 public:
  explicit ScanModel(std::uint64_t seed) : random_(seed) {}

  void step() {
    switch (random_() % 6) {
      case 0:
        begin();
        break;
      case 1:
      case 2:
        draw();
        break;
      case 3:
        end();
        break;
      case 4:
        claim();
        break;
      default:
        look();
        break;
    }
  }

  void finish() {
    while (!running_.empty()) end();
    for (std::size_t i = 0; i < committed_.size() + 4; ++i) {
      claim();
      look();
    }
  }

  [[nodiscard]] bool everything_found() const { return committed_ == found_; }
  [[nodiscard]] bool low_is_safe() const {
    for (const auto& [id, numbers] : running_) {
      if (!numbers.empty() && *numbers.begin() <= cursor_.low()) return false;
    }
    return true;
  }
  [[nodiscard]] std::int64_t low() const { return cursor_.low(); }
  [[nodiscard]] std::int64_t highest() const { return committed_.empty() ? 0 : *committed_.rbegin(); }

 private:
  void begin() { running_[next_id_++]; }
  auto any() { return std::next(running_.begin(), static_cast<long>(random_() % running_.size())); }
  void draw() {
    if (!running_.empty()) any()->second.insert(next_number_++);
  }
  void end() {
    if (running_.empty()) return;
    const auto it = any();
    if (random_() % 8 != 0) committed_.insert(it->second.begin(), it->second.end());
    running_.erase(it);
  }
  void claim() {
    int limit = 3;
    const std::int64_t after = cursor_.head();
    std::int64_t taken = 0;
    for (auto it = committed_.upper_bound(cursor_.head()); it != committed_.end() && limit > 0; ++it) {
      if (found_.contains(*it)) continue;
      found_.insert(*it);
      cursor_.looked_up_to(*it);
      --limit;
      ++taken;
    }
    if (taken == cursor_.head() - after) cursor_.taken_whole(after, cursor_.head());
  }
  void look() {
    const std::int64_t head = cursor_.head();
    GapView view{.oldest_running = running_.empty() ? next_id_ : running_.begin()->first, .first_open = {}, .drawn = 0};
    const std::int64_t upto = cursor_.look_up_to(random_() % 2 == 0);
    for (auto it = committed_.upper_bound(cursor_.low()); it != committed_.end() && *it <= upto; ++it) {
      if (!found_.contains(*it)) {
        view.first_open = *it;
        break;
      }
    }
    view.drawn = next_id_++;
    (void)cursor_.gap_seen(view, head);
    if (view.first_open) {  // the store claims from there
      for (auto it = committed_.lower_bound(*view.first_open); it != committed_.end() && *it <= upto; ++it)
        found_.insert(*it);
    }
  }

  std::mt19937_64 random_;
  ScanCursor cursor_;
  std::map<std::int64_t, std::set<std::int64_t>> running_;
  std::set<std::int64_t> committed_;
  std::set<std::int64_t> found_;
  std::int64_t next_id_ = 100;
  std::int64_t next_number_ = 1;
};

TEST(ScanCursor, FindsEveryCommitInAnyOrder) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    ScanModel model{seed};
    for (int i = 0; i < 200; ++i) {
      model.step();
      ASSERT_TRUE(model.low_is_safe()) << "seed " << seed << " step " << i;
    }
    model.finish();
    ASSERT_TRUE(model.everything_found()) << "seed " << seed;
    ASSERT_GE(model.low(), model.highest()) << "seed " << seed << ": low must catch up when all is quiet";
  }
}

}  // namespace
}  // namespace sluice::store
