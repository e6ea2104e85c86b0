#include "ops/group_story.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/dead_letters.hpp"
#include "tests/support/embedded_store.hpp"

namespace sluice::ops {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const store::Actor kAnn{"ann", "cli", "the provider works on it"};

TEST(HistogramGrid, HasAtMostSixtyStretchesFromTheFirstFailureToNow) {
  const Timestamp first{std::chrono::hours{1000} + 7s};
  for (const Duration span : {Duration{0}, Duration{9s}, Duration{10min}, Duration{3h}, Duration{50h}, Duration{24h * 40}}) {
    const auto grid = histogram_grid(first, first + span);
    EXPECT_LE(grid.stretches, kMostStretches);
    EXPECT_GE(grid.stretches, 1);
    EXPECT_LE(grid.from, first);
    EXPECT_GT(grid.until(), first + span) << "the last failure is inside";
    EXPECT_EQ(grid.from.time_since_epoch() % grid.step, Duration{0}) << "it begins where people count from";
  }
  EXPECT_EQ(histogram_grid(first, first + 3h).step, Duration{5min});
  EXPECT_EQ(histogram_grid(first, first - 1h).stretches, 1) << "a clock that was set back";
}

class GroupStoryTest : public testing::Test {
 protected:
  std::string fail(int number) {
    store_.publish(test::id_of(number));
    store_.fail(test::id_of(number), "slow");
    store_.now += 60s;
    return *test::must(store_->get_event(test::id_of(number))).fingerprint;
  }
  test::EmbeddedStore store_;
};

TEST_F(GroupStoryTest, TellsWhenItFailedAndWhatPeopleSaid) {
  const std::string fingerprint = fail(1);
  for (int number = 2; number <= 12; ++number) fail(number);
  test::must(note_group(*store_, fingerprint.substr(0, 6), kAnn, "ticket 4711"));
  test::must(acknowledge(*store_, fingerprint, true, kAnn));
  const auto story = test::must(tell_group(*store_, fingerprint.substr(0, 6)));
  EXPECT_EQ(story.fingerprint, fingerprint);
  std::int64_t counted = 0;
  for (const std::int64_t stretch : story.histogram) counted += stretch;
  EXPECT_EQ(counted, 12);
  ASSERT_THAT(story.samples, SizeIs(10));
  EXPECT_EQ(story.samples.front().envelope.event_id(), test::id_of(12)) << "the newest first";
  EXPECT_EQ(story.samples.front().envelope.payload(), "null");
  ASSERT_THAT(story.comments, SizeIs(2));
  EXPECT_EQ(story.comments[0].action, "acknowledge");
  EXPECT_EQ(story.comments[1].actor.reason, "ticket 4711");
  EXPECT_THAT(to_json(story), HasSubstr(R"("count":12,"groups":[{)"));
}

TEST_F(GroupStoryTest, AGroupWithoutDeadLettersKeepsItsNotes) {
  const std::string fingerprint = fail(1);
  test::must(note_group(*store_, fingerprint, kAnn, "ticket 4711"));
  test::must(store_->discard(test::id_of(1), kAnn));
  const auto story = test::must(tell_group(*store_, fingerprint));
  EXPECT_THAT(story.groups, IsEmpty());
  EXPECT_THAT(story.comments, SizeIs(1));
  EXPECT_THAT(to_json(story), HasSubstr(R"("histogram":null)"));
}

TEST_F(GroupStoryTest, WhatNeverFailedAndAnEmptyNoteAreRefused) {
  EXPECT_EQ(tell_group(*store_, "0123456789abcdef").error().code, ErrorCode::not_found);
  const std::string fingerprint = fail(1);
  const auto empty = note_group(*store_, fingerprint, kAnn, " ");
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().field, "text");
  EXPECT_THAT(empty.error().message, HasSubstr("text is required"));
  EXPECT_EQ(note_group(*store_, "0123456789abcdef", kAnn, "x").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace sluice::ops
