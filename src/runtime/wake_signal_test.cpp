#include "runtime/wake_signal.hpp"

#include <gtest/gtest.h>
#include <semaphore>
#include <thread>
#include <vector>

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

// The rests below are a century long: each test ends only because the rest was cut short.
constexpr Duration kForever = std::chrono::days{36500};

TEST(WakeSignal, AWakeBeforeTheRestIsNotLost) {
  WakeSignal signal;
  const std::uint64_t seen = signal.count();
  signal.wake_all();
  EXPECT_TRUE(signal.rest({}, Duration::zero(), seen));
  EXPECT_EQ(signal.count(), seen + 1);
}

TEST(WakeSignal, WakingAllEndsEveryRest) {
  WakeSignal signal;
  const std::uint64_t seen = signal.count();
  std::jthread one{[&] { signal.rest({}, kForever, seen); }};
  std::jthread other{[&] { signal.rest({}, kForever, seen); }};
  signal.wake_all();
  one.join();
  other.join();
  EXPECT_EQ(signal.count(), seen + 1);
}

TEST(WakeSignal, WakingOneEndsOneRestAtATime) {
  WakeSignal signal;
  std::counting_semaphore<> ended{0};
  std::jthread backing_off{[&](const std::stop_token& stop) { signal.sleep(stop, kForever); }};
  std::vector<std::jthread> resting;
  for (int i = 0; i < 3; ++i) {
    resting.emplace_back([&] {
      signal.rest({}, kForever, 0);
      ended.release();
    });
  }
  for (int i = 0; i < 3; ++i) {
    signal.wake_one();
    ended.acquire();
  }
  EXPECT_EQ(signal.count(), 0U);
}

TEST(WakeSignal, WakingOneWhileNobodyRestsIsNotLost) {
  WakeSignal signal;
  signal.wake_one();
  signal.wake_one();
  signal.rest({}, kForever, signal.count());
  signal.rest({}, 1ms, signal.count());
  EXPECT_EQ(signal.count(), 0U);
}

TEST(WakeSignal, AStopEndsTheRestAndTheSleep) {
  WakeSignal signal;
  std::jthread resting{[&](const std::stop_token& stop) { signal.rest(stop, kForever, signal.count()); }};
  std::jthread sleeping{[&](const std::stop_token& stop) { signal.sleep(stop, kForever); }};
  resting.request_stop();
  sleeping.request_stop();
  resting.join();
  sleeping.join();
  EXPECT_FALSE(resting.joinable());
  EXPECT_FALSE(sleeping.joinable());
}

TEST(WakeSignal, AnOldStopEndsTheRestAtOnce) {
  WakeSignal signal;
  std::stop_source source;
  source.request_stop();
  signal.sleep(source.get_token(), kForever);
  signal.rest(source.get_token(), kForever, signal.count());
  EXPECT_EQ(signal.count(), 0U);
}

TEST(WakeSignal, TimeEndsTheRest) {
  WakeSignal signal;
  signal.rest({}, 1ms, signal.count());
  signal.sleep({}, 1ms);
  EXPECT_EQ(signal.count(), 0U);
}

}  // namespace
}  // namespace sluice::runtime
