#include "runtime/service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

class ServiceTest : public testing::Test {
 protected:
  // Runs until `round` has been called `rounds` times.
  void run(int rounds, const std::function<Result<Duration>(int)>& round) {
    std::stop_source source;
    Service service;
    service.name = "tester";
    service.round = [&](const std::stop_token&) {
      const int number = ++called;
      if (number == rounds) source.request_stop();
      return round(number);
    };
    service.finish = [this] { ++finished; };
    const telemetry::Logger logger{[this](std::string_view line) { lines.emplace_back(line); }, {}};
    run_service(source.get_token(), service, {signal, logger, {1ms, 1ms}});
  }

  WakeSignal signal;
  int called = 0;
  int finished = 0;
  std::vector<std::string> lines;
};

TEST_F(ServiceTest, RunsRoundsUntilAStopAndThenFinishes) {
  run(3, [](int) { return Duration::zero(); });
  EXPECT_EQ(called, 3);
  EXPECT_EQ(finished, 1);
  EXPECT_TRUE(lines.empty());
}

TEST_F(ServiceTest, ARingDuringARoundCutsTheRestThatFollows) {
  run(3, [this](int) {
    signal.wake_all();
    return Duration{std::chrono::days{365}};
  });
  EXPECT_EQ(called, 3);
}

TEST_F(ServiceTest, AnErrorIsLoggedAndOutlived) {
  run(3, [](int number) -> Result<Duration> {
    if (number == 1) return Error{ErrorCode::unavailable, Retry::safe, "the store is away", {}, "start it"};
    return Duration::zero();
  });
  EXPECT_EQ(called, 3);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], testing::HasSubstr(R"("message":"tester round failed, backing off")"));
  EXPECT_THAT(lines[0], testing::HasSubstr(
                            R"("error":"the store is away","code":"unavailable","retry":"safe","hint":"start it")"));
}

TEST_F(ServiceTest, ARoundThatThrowsIsAnError) {
  run(2, [](int number) -> Result<Duration> {
    if (number == 1) throw std::runtime_error("out of luck");
    return Duration::zero();
  });
  EXPECT_EQ(called, 2);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], testing::HasSubstr(R"("error":"out of luck")"));
}

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

TEST(Backoff, DoublesFromOneSecondToThirty) {
  Backoff backoff{BackoffLimits{}};
  for (const Duration expected : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) EXPECT_EQ(backoff.next(), expected);
}

TEST(Backoff, StartsAgainAfterASuccess) {
  Backoff backoff{{10ms, 1s}};
  backoff.next();
  backoff.next();
  backoff.reset();
  EXPECT_EQ(backoff.next(), 10ms);
}

TEST(Backoff, NeverExceedsTheCap) {
  Backoff backoff{{5s, 2s}};
  EXPECT_EQ(backoff.next(), 2s);
  Backoff longest{{Duration::max() / 3, Duration::max()}};
  for (int i = 0; i < 10; ++i) EXPECT_GT(longest.next(), 0s);
}

TEST(IdleBackoff, IsNoneAtFirstNorAfterACheapClaim) {
  IdleBackoff backoff;
  EXPECT_EQ(backoff.left(), IdleBackoff::Clock::duration::zero());
  backoff.found_nothing(1ms, IdleBackoff::Cause::woken);
  EXPECT_EQ(backoff.left(), IdleBackoff::Clock::duration::zero());
}

TEST(IdleBackoff, IsInProportionAndWithinItsBound) {
  IdleBackoff backoff;
  backoff.found_nothing(30s, IdleBackoff::Cause::woken);
  EXPECT_GT(backoff.left(), IdleBackoff::Clock::duration::zero());
  EXPECT_LE(backoff.left(), IdleBackoff::Clock::duration{250ms});
}

// A database that is some milliseconds away makes every claim slow, and so do rescans, which have a measure of their
// own.
TEST(IdleBackoff, AClaimThatNobodyWasWokenForHoldsUpNobody) {
  IdleBackoff backoff;
  backoff.found_nothing(30s, IdleBackoff::Cause::itself);
  EXPECT_EQ(backoff.left(), IdleBackoff::Clock::duration::zero());
}

TEST(IdleBackoff, SeveralEventsAtOnceAreGivenTimeToGather) {
  IdleBackoff backoff;
  backoff.found_few(5, 30s);
  EXPECT_GT(backoff.left(), IdleBackoff::Clock::duration::zero());
  EXPECT_LE(backoff.left(), IdleBackoff::Clock::duration{5ms});
}

TEST(IdleBackoff, WhoHasJustFoundSomethingIsHardlyHeldUpByOthers) {
  IdleBackoff backoff;
  backoff.found_nothing(30s, IdleBackoff::Cause::woken);
  EXPECT_GT(backoff.left(), IdleBackoff::Clock::duration{5ms});
  EXPECT_LE(backoff.left(true), IdleBackoff::Clock::duration{5ms});
}

TEST(IdleBackoff, ASingleEventIsNotKeptWaiting) {
  IdleBackoff backoff;
  backoff.found_few(1, 30s);
  EXPECT_EQ(backoff.left(), IdleBackoff::Clock::duration::zero());
}

}  // namespace
}  // namespace sluice::runtime
