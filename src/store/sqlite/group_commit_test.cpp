#include "store/sqlite/group_commit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace sluice::store::sqlite {
namespace {

using testing::ElementsAre;

struct Call {
  int number = 0;
  int answer = 0;
  std::thread::id done_by{};
};

/// Work that notes what it was given; the first of all is held until it is let go.
class Bench {
 public:
  void operator()(std::span<Call* const> calls) {
    std::vector<int> numbers;
    for (Call* call : calls) {
      numbers.push_back(call->number);
      call->answer = call->number * 10;
      call->done_by = std::this_thread::get_id();
    }
    const bool first = groups.empty();
    groups.push_back(numbers);
    if (!first) return;
    begun.count_down();
    go_on.wait();
  }

  std::latch begun{1};
  std::latch go_on{1};
  std::vector<std::vector<int>> groups;
};

class GroupCommitTest : public testing::Test {
 protected:
  /// Call 0 is at work when this returns.
  void begin_first() {
    threads_.emplace_back([this] { commit_.run(first_, 1); });
    bench_.begun.wait();
  }
  /// Waits behind the others when this returns.
  void begin_another(Call& call, std::size_t weight) {
    const std::size_t before = commit_.waiting();
    threads_.emplace_back([this, &call, weight] { commit_.run(call, weight); });
    while (commit_.waiting() == before) std::this_thread::yield();
  }
  void finish() {
    bench_.go_on.count_down();
    threads_.clear();
  }

  Bench bench_;
  GroupCommit<Call> commit_{std::ref(bench_), 4};
  Call first_;
  std::vector<std::jthread> threads_;
};

TEST_F(GroupCommitTest, ALoneCallerDoesItsOwnWork) {
  bench_.go_on.count_down();
  Call call{7};
  commit_.run(call, 1);
  EXPECT_EQ(call.answer, 70);
  EXPECT_EQ(call.done_by, std::this_thread::get_id());
  EXPECT_THAT(bench_.groups, ElementsAre(ElementsAre(7)));
}

TEST_F(GroupCommitTest, WhoComesMeanwhileIsDoneTogetherInOrder) {
  begin_first();
  std::vector<Call> calls{{1}, {2}, {3}};
  for (Call& call : calls) begin_another(call, 1);
  finish();
  EXPECT_THAT(bench_.groups, ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3)));
  for (const Call& call : calls) EXPECT_EQ(call.answer, call.number * 10);
  EXPECT_EQ(calls[0].done_by, calls[2].done_by);
  EXPECT_NE(calls[0].done_by, first_.done_by) << "one of those who wait does it";
}

TEST_F(GroupCommitTest, AGroupIsNoHeavierThanAllowed) {
  begin_first();
  std::vector<Call> calls{{1}, {2}, {3}};
  for (Call& call : calls) begin_another(call, 2);
  finish();
  EXPECT_THAT(bench_.groups, ElementsAre(ElementsAre(0), ElementsAre(1, 2), ElementsAre(3)));
}

TEST_F(GroupCommitTest, AHeavyCallGoesAloneAndKeepsItsPlace) {
  begin_first();
  std::vector<Call> calls{{1}, {2}, {3}};
  begin_another(calls[0], 1);
  begin_another(calls[1], 100);
  begin_another(calls[2], 1);
  finish();
  EXPECT_THAT(bench_.groups, ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3)));
}

TEST(GroupCommitFailure, WhatTheWorkThrowsReachesEveryCallerAndTheNextGoesOn) {
  std::latch begun{1};
  std::latch go_on{1};
  bool first = true;
  GroupCommit<Call> commit{[&](std::span<Call* const> calls) {
                             if (std::exchange(first, false)) {
                               begun.count_down();
                               go_on.wait();
                             } else if (calls.size() > 1) {
                               throw std::runtime_error("together");
                             }
                           },
                           10};
  std::atomic<int> thrown = 0;
  std::vector<Call> calls(3);
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { commit.run(calls[0], 1); });
    begun.wait();
    for (std::size_t i = 1; i < calls.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          commit.run(calls[i], 1);
        } catch (const std::runtime_error&) {
          ++thrown;
        }
      });
    }
    while (commit.waiting() < 2) std::this_thread::yield();
    go_on.count_down();
  }
  EXPECT_EQ(thrown, 2);
  EXPECT_NO_THROW(commit.run(calls[0], 1));
}

TEST(GroupCommitStress, EveryCallIsAnsweredOnceByOneAtATime) {
  constexpr int kThreads = 8;
  constexpr int kCallsEach = 3000;
  std::int64_t worked_on = 0;  // guarded by the work itself, which is never done twice at a time
  std::size_t most = 0;
  GroupCommit<Call> commit{[&](std::span<Call* const> calls) {
                             most = std::max(most, calls.size());
                             for (Call* call : calls) {
                               ++call->answer;
                               ++worked_on;
                             }
                           },
                           5};
  std::atomic<int> wrong = 0;
  {
    std::latch start{kThreads};
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        for (int i = 0; i < kCallsEach; ++i) {
          Call call;
          commit.run(call, 1);
          if (call.answer != 1) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(worked_on, std::int64_t{kThreads} * kCallsEach);
  EXPECT_LE(most, 5U);
  EXPECT_EQ(commit.waiting(), 0U);
}

}  // namespace
}  // namespace sluice::store::sqlite
