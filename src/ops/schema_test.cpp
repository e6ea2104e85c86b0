#include "ops/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/fake_store.hpp"

namespace sluice::ops {
namespace {

using testing::HasSubstr;

class Schema : public testing::Test {
 protected:
  test::FakeData data_;
  test::FakeStore store_{data_};
};

TEST_F(Schema, ThePlanIsWhatIsMissing) {
  data_.schema = {0, 2};
  EXPECT_EQ(plan_migration(store_)->size(), 2U);
  data_.schema = {1, 2};
  const auto plan = plan_migration(store_);
  ASSERT_EQ(plan->size(), 1U);
  EXPECT_EQ(plan->front().name, "0002_second");
  EXPECT_FALSE(plan->front().applied_now);
  data_.schema = {2, 2};
  EXPECT_TRUE(plan_migration(store_)->empty());
}

TEST_F(Schema, ANewerSchemaIsRefused) {
  data_.schema = {3, 2};
  const auto plan = plan_migration(store_);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::schema);
  EXPECT_THAT(plan.error().message, HasSubstr("version 3"));
}

TEST_F(Schema, RolesHaveNamesBothWays) {
  for (const auto grant : {store::Grant::publisher, store::Grant::worker, store::Grant::op, store::Grant::reader}) {
    EXPECT_EQ(parse_grant(name(grant)), grant);
  }
  EXPECT_EQ(parse_grant("admin"), std::nullopt);
}

TEST_F(Schema, GrantsNeedAStoreWithRoles) {
  const auto refused = grant(store_, std::nullopt, "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("no roles"));
  EXPECT_TRUE(data_.granted.empty());
  data_.capabilities.roles = true;
  EXPECT_TRUE(grant(store_, store::Grant::reader, "app"));
  EXPECT_EQ(data_.granted.size(), 1U);
}

}  // namespace
}  // namespace sluice::ops
