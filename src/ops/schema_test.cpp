#include "ops/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"

namespace sluice::ops {
namespace {

using testing::HasSubstr;

// A schema that is there in part: tests/cli/postgres_cli_test.cpp, where there is more than one migration.
TEST(Schema, ThePlanIsWhatIsMissing) {
  test::EmbeddedStore store{test::EmbeddedStore::Start::no_schema};
  const auto plan = plan_migration(*store);
  ASSERT_EQ(plan->size(), store->migrations().size());
  EXPECT_EQ(plan->front().name, "0001_tables");
  EXPECT_FALSE(plan->front().applied_now);
  EXPECT_EQ(store->schema_version()->applied, 0) << "a plan changes nothing";
  ASSERT_TRUE(store->migrate());
  EXPECT_TRUE(plan_migration(*store)->empty());
}

TEST(Schema, ANewerSchemaIsRefused) {
  test::EmbeddedStore store;
  store.add_future_migration();
  const auto plan = plan_migration(*store);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::schema);
  EXPECT_THAT(plan.error().message, HasSubstr("version 999"));
}

TEST(Schema, RolesHaveNamesBothWays) {
  for (const auto grant : {store::Grant::publisher, store::Grant::worker, store::Grant::op, store::Grant::reader}) {
    EXPECT_EQ(parse_grant(name(grant)), grant);
  }
  EXPECT_EQ(parse_grant("admin"), std::nullopt);
}

TEST(Schema, GrantsNeedAStoreWithRoles) {
  test::EmbeddedStore store;
  const auto refused = grant(*store, std::nullopt, "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("no roles"));
}

}  // namespace
}  // namespace sluice::ops
