#include <future>

#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

SLUICE_CONTRACT(SchemaContract);

TEST_P(SchemaContract, AMigratedStoreIsUpToDate) {
  const auto version = must(store().schema_version());
  EXPECT_GE(version.known, 1);
  EXPECT_EQ(version.applied, version.known);
  EXPECT_THAT(must(store().validate()), IsEmpty());
}

TEST_P(SchemaContract, MigratingAgainDoesNothing) {
  const Uuid id = publish();
  const auto steps = must(store().migrate());
  EXPECT_EQ(static_cast<int>(steps.size()), must(store().schema_version()).known);
  for (const auto& step : steps) EXPECT_FALSE(step.applied_now) << step.name;
  EXPECT_EQ(event(id).status, Status::pending);
}

TEST_P(SchemaContract, MigrationsAreNumberedFromOne) {
  int expected = 0;
  for (const auto& migration : store().migrations()) {
    EXPECT_EQ(migration.version, ++expected);
    EXPECT_FALSE(migration.sql.empty());
  }
  EXPECT_EQ(expected, must(store().schema_version()).known);
}

TEST_P(SchemaContract, ANewerSchemaIsRefusedWithASentence) {
  raw_sql("insert into {migrations} (version, name, checksum, applied_at) values (99, '0099_future', 'x', {now})");
  EXPECT_EQ(must(store().schema_version()).applied, 99);
  const auto refused = store().migrate();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::schema);
  EXPECT_THAT(refused.error().message, HasSubstr("schema version 99 is newer than this build knows"));
  EXPECT_THAT(refused.error().hint, HasSubstr("upgrade sluice"));
  const auto opened = harness().second_store();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::schema);
}

// As a build left it whose migrations were others: from before the first release, or a fork's.
TEST_P(SchemaContract, ASchemaOfOtherMigrationsIsRefusedWithASentence) {
  const std::string first = store().migrations().front().name;
  raw_sql("update {migrations} set checksum = 'x'");
  raw_sql("delete from {migrations} where version > 1");
  const auto refused = store().migrate();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::schema);
  EXPECT_EQ(refused.error().message, "migration " + first + " was applied in another form than this build carries");
  EXPECT_THAT(refused.error().hint, HasSubstr("create a new store"));
  EXPECT_EQ(must(store().schema_version()).applied, 1) << "nothing was applied upon it";
}

TEST_P(SchemaContract, ValidateNamesWhatIsMissing) {
  const bool embedded = store().capabilities().embedded;
  const std::string index = embedded ? "outbox_due" : "outbox_waiting";
  raw_sql("drop index " + (embedded ? index : "core." + index));
  EXPECT_THAT(must(store().validate()), Contains(HasSubstr(index)));
}

TEST_P(SchemaContract, ManyMayMigrateAtOnce) {
  std::vector<std::future<bool>> migrators;
  for (int n = 0; n < 8; ++n) {
    migrators.push_back(std::async(std::launch::async, [this] { return store().migrate().has_value(); }));
  }
  for (auto& migrator : migrators) EXPECT_TRUE(migrator.get());
}

TEST_P(SchemaContract, CapabilitiesSayWhatTheStoreIs) {
  const auto capabilities = store().capabilities();
  EXPECT_EQ(capabilities.embedded, GetParam() == "sqlite");
  EXPECT_EQ(capabilities.listen, GetParam() != "sqlite");
  EXPECT_EQ(capabilities.roles, GetParam() != "sqlite");
  EXPECT_FALSE(store().display_name().empty());
  EXPECT_THAT(store().display_name(), testing::Not(HasSubstr("sluice:sluice@")));
}

TEST_P(SchemaContract, GrantsExistOnlyWhereThereAreRoles) {
  if (store().capabilities().roles) {
    EXPECT_FALSE(must(store().grant({}, "")).empty());
  } else {
    EXPECT_EQ(store().grant({}, "").error().code, ErrorCode::invalid);
  }
}

}  // namespace
}  // namespace sluice::contract
