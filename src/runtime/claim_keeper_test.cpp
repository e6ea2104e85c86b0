#include "runtime/claim_keeper.hpp"

#include <gtest/gtest.h>

#include "tests/support/faulty_store.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

class ClaimKeeperTest : public testing::Test {
 protected:
  std::vector<store::ClaimRef> claim(Duration ttl = 300s) {
    store::ClaimRequest request;
    request.worker = "test:1";
    request.ttl = ttl;
    const auto events = store->claim(request).value();
    std::vector<store::ClaimRef> claims;
    for (const auto& event : events) claims.push_back(event.claim);
    return claims;
  }
  void pass(Duration by) {
    clock.advance(by);
    steady += by;
  }

  ManualClock clock;
  TestStore store{[this] { return clock.now(); }};
  ClaimKeeper::TimePoint steady{};
  ClaimKeeper keeper{*store, {}, {300s, [this] { return steady; }}};
};

TEST_F(ClaimKeeperTest, RenewsAtAThirdOfTheTtl) {
  store.publish(test::events(1));
  const auto hold = keeper.hold(claim(), steady);
  for (int i = 0; i < 10; ++i) {
    pass(100s);
    ASSERT_TRUE(keeper.step());
    EXPECT_TRUE(store->expired_claims(10)->empty()) << "after " << (i + 1) * 100 << " s";
  }
}

TEST_F(ClaimKeeperTest, WithoutAHoldTheClaimExpires) {
  store.publish(test::events(1));
  { const auto hold = keeper.hold(claim(), steady); }
  pass(301s);
  ASSERT_TRUE(keeper.step());
  EXPECT_EQ(store->expired_claims(10)->size(), 1U);
}

TEST_F(ClaimKeeperTest, ALostClaimIsSignalledToTheHandler) {
  store.publish(test::events(2));
  const auto claims = claim();
  const auto hold = keeper.hold(claims, steady);
  const std::vector<Uuid> running{claims[0].event_id};
  const std::stop_token stop = hold->begin(running, {});
  // Somebody else takes the first event away.
  store::SettleItem item{claims[0], settle(0, Outcome::expired(), {}, 0.5), {}, {}};
  ASSERT_EQ(store->settle(std::span{&item, 1})->settled, 1);
  pass(100s);
  ASSERT_TRUE(keeper.step());
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_TRUE(hold->lost(claims[0].event_id));
  EXPECT_FALSE(hold->lost(claims[1].event_id));
}

TEST_F(ClaimKeeperTest, ATimeoutAsksToStopAndTheClaimIsNotRenewed) {
  store.publish(test::events(1));
  const auto claims = claim();
  const auto hold = keeper.hold(claims, steady);
  const std::vector<Uuid> running{claims[0].event_id};
  const std::stop_token stop = hold->begin(running, 5s);
  pass(4s);
  ASSERT_TRUE(keeper.step());
  EXPECT_FALSE(stop.stop_requested());
  pass(1s);
  ASSERT_TRUE(keeper.step());
  EXPECT_TRUE(stop.stop_requested());
  for (int i = 0; i < 4; ++i) {
    pass(100s);
    ASSERT_TRUE(keeper.step());
  }
  EXPECT_EQ(store->expired_claims(10)->size(), 1U) << "a handler that never returns loses the event";
  EXPECT_TRUE(hold->end());
}

TEST_F(ClaimKeeperTest, WhatIsForgottenIsNotRenewed) {
  store.publish(test::events(2));
  const auto claims = claim();
  const auto hold = keeper.hold(claims, steady);
  hold->forget(claims[0].event_id);
  for (int i = 0; i < 4; ++i) {
    pass(100s);
    ASSERT_TRUE(keeper.step());
  }
  ASSERT_EQ(store->expired_claims(10)->size(), 1U);
  EXPECT_EQ(store->expired_claims(10)->front().claim.event_id, claims[0].event_id);
}

TEST_F(ClaimKeeperTest, AFailedHeartbeatIsTriedAgain) {
  store.publish(test::events(1));
  test::FaultyStore faulty{*store};
  ClaimKeeper flaky{faulty, {}, {300s, [this] { return steady; }}};
  const auto hold = flaky.hold(claim(), steady);
  faulty.fail_call(1, test::Fault::before);
  pass(100s);
  EXPECT_FALSE(flaky.step());
  ASSERT_TRUE(flaky.step());
  pass(250s);
  EXPECT_TRUE(store->expired_claims(10)->empty());
}

}  // namespace
}  // namespace sluice::runtime
