#include "core/retention.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using std::chrono::days;

TEST(Retention, DefaultsHold) {
  const RetentionPolicies policies;
  EXPECT_TRUE(policies.validate());
  EXPECT_EQ(policies.outbox.active, days{45});
  EXPECT_EQ(policies.outbox.grace, days{7});
  EXPECT_EQ(policies.event_handled.active, days{60});
  EXPECT_EQ(policies.event_handled.grace, days{7});
}

TEST(Retention, HandledRowsMustOutliveEveryReplay) {
  RetentionPolicies policies;
  policies.event_handled.active = days{52};
  const auto checked = policies.validate();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().field, "event_handled.active");
  EXPECT_EQ(
      checked.error().message,
      "event_handled.active (52d) must be longer than outbox.active + outbox.grace (45d + 7d = 52d), or a replayed "
      "event could be handled twice");
  EXPECT_FALSE(checked.error().hint.empty());
}

TEST(Retention, TheInequalityIsStrict) {
  RetentionPolicies policies;
  policies.event_handled.active = days{52} + Duration{1};
  EXPECT_TRUE(policies.validate());
  policies.event_handled.active = days{52} - Duration{1};
  EXPECT_FALSE(policies.validate());
}

TEST(Retention, LengthsMustMakeSense) {
  RetentionPolicies policies;
  policies.outbox.active = Duration::zero();
  EXPECT_EQ(policies.validate().error().field, "outbox.active");
  policies = {};
  policies.outbox.grace = days{-1};
  EXPECT_EQ(policies.validate().error().field, "outbox.grace");
  policies = {};
  policies.event_handled.grace = days{-1};
  EXPECT_EQ(policies.validate().error().field, "event_handled.grace");
}

}  // namespace
}  // namespace sluice
