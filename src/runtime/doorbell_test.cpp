#include "runtime/doorbell.hpp"

#include <gtest/gtest.h>
#include <semaphore>
#include <thread>
#include <vector>

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

// The rests below are a century long: each test ends only because the rest was cut short.
constexpr Duration kForever = std::chrono::days{36500};

TEST(Doorbell, ARingBeforeTheRestIsNotLost) {
  Doorbell bell;
  const std::uint64_t seen = bell.rings();
  bell.ring();
  bell.rest({}, kForever, seen);
  EXPECT_EQ(bell.rings(), seen + 1);
}

TEST(Doorbell, ARingEndsEveryRest) {
  Doorbell bell;
  const std::uint64_t seen = bell.rings();
  std::jthread one{[&] { bell.rest({}, kForever, seen); }};
  std::jthread other{[&] { bell.rest({}, kForever, seen); }};
  bell.ring();
  one.join();
  other.join();
  EXPECT_EQ(bell.rings(), seen + 1);
}

TEST(Doorbell, RingingForOneEndsOneRestAtATime) {
  Doorbell bell;
  std::counting_semaphore<> ended{0};
  std::jthread sleeper{[&](const std::stop_token& stop) { bell.sleep(stop, kForever); }};
  std::vector<std::jthread> resting;
  for (int i = 0; i < 3; ++i) {
    resting.emplace_back([&] {
      bell.rest({}, kForever, 0);
      ended.release();
    });
  }
  for (int i = 0; i < 3; ++i) {
    bell.ring_one();
    ended.acquire();
  }
  EXPECT_EQ(bell.rings(), 0U);
}

TEST(Doorbell, RingingForOneWhileNobodyRestsIsNotLost) {
  Doorbell bell;
  bell.ring_one();
  bell.ring_one();
  bell.rest({}, kForever, bell.rings());
  bell.rest({}, 1ms, bell.rings());
  EXPECT_EQ(bell.rings(), 0U);
}

TEST(Doorbell, AStopEndsTheRestAndTheSleep) {
  Doorbell bell;
  std::jthread resting{[&](const std::stop_token& stop) { bell.rest(stop, kForever, bell.rings()); }};
  std::jthread sleeping{[&](const std::stop_token& stop) { bell.sleep(stop, kForever); }};
  resting.request_stop();
  sleeping.request_stop();
  resting.join();
  sleeping.join();
  EXPECT_FALSE(resting.joinable());
  EXPECT_FALSE(sleeping.joinable());
}

TEST(Doorbell, AnOldStopEndsTheRestAtOnce) {
  Doorbell bell;
  std::stop_source source;
  source.request_stop();
  bell.sleep(source.get_token(), kForever);
  bell.rest(source.get_token(), kForever, bell.rings());
  EXPECT_EQ(bell.rings(), 0U);
}

TEST(Doorbell, TimeEndsTheRest) {
  Doorbell bell;
  bell.rest({}, 1ms, bell.rings());
  bell.sleep({}, 1ms);
  EXPECT_EQ(bell.rings(), 0U);
}

TEST(Doorbell, ARingIsToldOn) {
  int told = 0;
  Doorbell bell{[&] { ++told; }};
  bell.ring();
  bell.ring_one();
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace sluice::runtime
