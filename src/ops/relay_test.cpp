#include "ops/relay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"

namespace sluice::ops {
namespace {

using testing::HasSubstr;

TEST(Relay, AnEmbeddedStoreIsRefusedWithOneSentence) {
  test::EmbeddedStore store;
  const auto refused = check_relay(*store, "nats", {.kind = "nats"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "store");
  EXPECT_THAT(refused.error().message, HasSubstr("needs PostgreSQL"));
}

TEST(Relay, WithoutABrokerTheViewSaysSo) {
  test::EmbeddedStore store;
  const auto view = look_at_relay(*store, nullptr);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->relay.state, store::RelayState::off);
  EXPECT_FALSE(view->broker);
  EXPECT_THAT(to_json(*view), HasSubstr("\"state\":\"off\""));
  EXPECT_THAT(to_json(*view), HasSubstr("set relay.url"));
}

TEST(Relay, TheWayBackNeedsAReasonAndABrokerThatAnswers) {
  test::EmbeddedStore store;
  ASSERT_TRUE(store->switch_relay(store::RelayState::draining, "nats", {"alice", "test", "a test"}));
  EXPECT_FALSE(relay_off(*store, nullptr, false, {"alice", "test", ""}));
  const auto refused = relay_off(*store, nullptr, false, {"alice", "test", "a test"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().hint, HasSubstr("--force"));
  EXPECT_TRUE(relay_off(*store, nullptr, true, {"alice", "test", "a test"}));
  EXPECT_EQ(store->relay()->state, store::RelayState::off);
}

}  // namespace
}  // namespace sluice::ops
