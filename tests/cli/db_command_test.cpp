#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/sqlite/sqlite_store.hpp"
#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Start = test::EmbeddedStore::Start;

TEST(Db, MigrateSaysWhatItApplied) {
  test::CommandLine sluice{Start::no_schema};
  const auto answer = sluice({"db", "migrate"});
  EXPECT_EQ(answer.exit, Exit::ok);
  EXPECT_THAT(answer.out, AllOf(HasSubstr("0001_tables"), HasSubstr("now")));
  EXPECT_TRUE(sluice.opened.back().create);
  EXPECT_FALSE(sluice.opened.back().needs_schema);
  EXPECT_THAT(sluice({"db", "migrate"}).out, AllOf(HasSubstr("0001_tables"), HasSubstr("before")));
  EXPECT_THAT(sluice({"db", "migrate", "-o", "json"}).out,
              HasSubstr(R"({"version":1,"name":"0001_tables","applied_now":false})"));
}

TEST(Db, ADryRunOfAMissingFileListsEverything) {
  test::CommandLine sluice{Start::no_file};
  const auto answer = sluice({"db", "migrate", "--dry-run"});
  EXPECT_EQ(answer.exit, Exit::ok);
  EXPECT_THAT(answer.out, HasSubstr("would be"));
  for (const auto& migration : store::sqlite_migrations()) EXPECT_THAT(answer.out, HasSubstr(migration.name));
  EXPECT_FALSE(sluice.store.exists());
}

TEST(Db, ADryRunRefusesANewerSchema) {
  test::CommandLine sluice;
  sluice.store.add_future_migration();
  const auto answer = sluice({"db", "migrate", "--dry-run"});
  EXPECT_EQ(answer.exit, Exit::failed);
  EXPECT_THAT(answer.err, HasSubstr("upgrade sluice"));
}

TEST(Db, VersionIsOneNumber) {
  test::CommandLine sluice{Start::no_schema};
  const auto answer = sluice({"db", "version"});
  EXPECT_EQ(answer.out, "0\n");
  EXPECT_THAT(answer.err, HasSubstr("sluice db migrate"));
  const std::string known = std::to_string(store::sqlite_migrations().back().version);
  EXPECT_EQ(sluice({"db", "version", "-o", "json"}).out, "{\"applied\":0,\"known\":" + known + "}\n");
}

TEST(Db, ValidateExitsWithFindings) {
  test::CommandLine sluice;
  EXPECT_EQ(sluice({"db", "validate"}).exit, Exit::ok);
  sluice.store.sql("drop table settings");
  const auto answer = sluice({"db", "validate"});
  EXPECT_EQ(answer.exit, Exit::findings);
  EXPECT_EQ(answer.out, "table settings is missing\n");
  EXPECT_EQ(sluice({"db", "validate", "-o", "json"}).out, "{\"findings\":[\"table settings is missing\"]}\n");
  EXPECT_EQ(sluice({"db", "validate", "-o", "ndjson"}).out, "{\"finding\":\"table settings is missing\"}\n");
}

// Where there are roles: tests/cli/postgres_cli_test.cpp.
TEST(Db, GrantNeedsRolesAndAMember) {
  test::CommandLine sluice;
  const auto embedded = sluice({"db", "grant"});
  EXPECT_EQ(embedded.exit, Exit::usage);
  EXPECT_THAT(embedded.err, HasSubstr("no roles"));
  EXPECT_THAT(sluice({"db", "grant", "worker", "app"}).err, HasSubstr("no roles"));
  const auto alone = sluice({"db", "grant", "worker"});
  EXPECT_EQ(alone.exit, Exit::usage);
  EXPECT_THAT(alone.err, HasSubstr("sluice db grant ROLE MEMBER"));
  EXPECT_EQ(sluice({"db", "grant", "admin", "app"}).exit, Exit::usage);
}

// Where there is one: tests/cli/postgres_delivery_test.cpp.
TEST(Db, AnEmbeddedStoreHasNoDoorbell) {
  test::CommandLine sluice;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"db", "doorbell"},
                                                {"db", "doorbell", "when-idle"},
                                                {"db", "doorbell", "when-idle", "--dry-run"}}) {
    const auto answer = sluice(words);
    EXPECT_EQ(answer.exit, Exit::usage);
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.err, AllOf(HasSubstr("has no doorbell"), HasSubstr("--store postgres://")));
  }
  EXPECT_THAT(sluice({"db", "doorbell", "sometimes"}).err, HasSubstr("unknown MODE `sometimes`"));
}

TEST(Db, SqlNeedsNoStore) {
  test::CommandLine sluice;
  EXPECT_THAT(sluice({"db", "sql"}).out, AllOf(HasSubstr("-- 0001_tables.sql\n"), HasSubstr("create table outbox (")));
  EXPECT_THAT(sluice({"db", "sql", "--store", "postgres://"}).out, HasSubstr("create schema core;"));
  EXPECT_THAT(sluice({"db", "sql", "-o", "json"}).out, HasSubstr(R"({"migrations":[{"version":1,)"));
  EXPECT_TRUE(sluice.opened.empty());
}

}  // namespace
}  // namespace sluice::cli
