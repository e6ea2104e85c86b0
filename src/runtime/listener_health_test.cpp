#include "runtime/listener_health.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;
using Action = ListenerHealth::Action;

class ListenerHealthTest : public testing::Test {
 protected:
  ListenerHealth::TimePoint now{};
  ListenerTimes times;
  ListenerHealth health{times, now};

  void connect() {
    ASSERT_EQ(health.next(now).action, Action::connect);
    health.connected(now);
  }
  void pass(Duration by) {
    now += by;
    health.tick(now);
  }
};

TEST_F(ListenerHealthTest, ConnectsAtOnceAndListens) {
  connect();
  EXPECT_EQ(health.state(), ListenerState::listening);
  EXPECT_EQ(health.poll_interval(), 10s);
}

TEST_F(ListenerHealthTest, ReconnectsAfter1_2_4_8_16_30_30Seconds) {
  connect();
  health.lost(now);
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 7; ++i) {
    const auto begun = now;
    while (health.next(now).action != Action::connect) pass(100ms);
    waits.push_back(std::chrono::round<std::chrono::seconds>(now - begun).count());
    health.lost(now);
  }
  EXPECT_EQ(waits, (std::vector<std::int64_t>{1, 2, 4, 8, 16, 30, 30}));
}

// The seeds' polling fallback: every 5 s once LISTEN has been down for longer than the cap of 30 s.
TEST_F(ListenerHealthTest, PollingFallbackTiming) {
  connect();
  pass(1min);
  health.lost(now);
  EXPECT_EQ(health.state(), ListenerState::reconnecting);
  EXPECT_EQ(health.poll_interval(), 5s);
  const auto down = now;
  while (now - down < 30s) {
    EXPECT_EQ(health.state(), ListenerState::reconnecting);
    if (health.next(now).action == Action::connect) health.lost(now);
    pass(100ms);
  }
  EXPECT_EQ(health.state(), ListenerState::polling);
  EXPECT_EQ(health.poll_interval(), 5s);

  while (health.next(now).action != Action::connect) pass(100ms);
  health.connected(now);
  EXPECT_EQ(health.state(), ListenerState::listening);
  EXPECT_EQ(health.poll_interval(), 10s);
}

TEST_F(ListenerHealthTest, ProbesEveryTenSeconds) {
  connect();
  EXPECT_EQ(health.next(now).action, Action::wait);
  EXPECT_EQ(health.next(now).until, now + 10s);
  pass(10s);
  EXPECT_EQ(health.next(now).action, Action::probe);
  health.probed(now);
  pass(1s);
  health.echoed();
  EXPECT_EQ(health.next(now).until, now + 9s);
  EXPECT_EQ(health.state(), ListenerState::listening);
}

TEST_F(ListenerHealthTest, ABlackHoledSocketIsFoundWithinTwentySeconds) {
  connect();
  const auto begun = now;
  while (health.next(now).action != Action::drop) {
    if (health.next(now).action == Action::probe) health.probed(now);
    pass(100ms);
    ASSERT_LT(now - begun, 20s);
  }
  health.lost(now);
  EXPECT_EQ(health.state(), ListenerState::deaf);
  EXPECT_EQ(health.poll_interval(), 5s);
}

TEST_F(ListenerHealthTest, DeafUntilAProbeIsHeard) {
  connect();
  pass(10s);
  health.probed(now);
  pass(5s);
  ASSERT_EQ(health.next(now).action, Action::drop);
  health.lost(now);
  pass(1s);
  connect();
  EXPECT_EQ(health.state(), ListenerState::deaf) << "connected, but not believed";
  ASSERT_EQ(health.next(now).action, Action::probe) << "asked at once";
  health.probed(now);
  health.echoed();
  EXPECT_EQ(health.state(), ListenerState::listening);
}

TEST_F(ListenerHealthTest, AShortLossKeepsTheBackoffShortAgain) {
  connect();
  for (int i = 0; i < 3; ++i) {
    pass(10s);
    health.probed(now);
    health.echoed();
    health.lost(now);
    EXPECT_EQ(health.next(now).until, now + 1s) << "a probe that came back resets the back-off";
    pass(1s);
    connect();
  }
}

}  // namespace
}  // namespace sluice::runtime
