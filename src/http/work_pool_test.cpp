#include "http/work_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace sluice::http {
namespace {

TEST(WorkPool, RunsAtTheSameTime) {
  WorkPool pool{2, 10};
  std::latch both{2};
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(pool.run([&] { both.arrive_and_wait(); }));
  both.wait();
}

TEST(WorkPool, RefusesWhatWouldWaitBehindTooMany) {
  WorkPool pool{1, 1};
  std::latch begun{1};
  std::latch release{1};
  EXPECT_TRUE(pool.run([&] {
    begun.count_down();
    release.wait();
  }));
  begun.wait();
  EXPECT_TRUE(pool.run([] {}));
  EXPECT_FALSE(pool.run([] {}));
  release.count_down();
}

TEST(WorkPool, AStopFinishesWhatWaits) {
  std::atomic<int> done = 0;
  WorkPool pool{1, 100};
  for (int i = 0; i < 50; ++i) pool.run([&] { ++done; });
  pool.stop();
  EXPECT_EQ(done, 50);
  EXPECT_FALSE(pool.run([] {}));
}

}  // namespace
}  // namespace sluice::http
