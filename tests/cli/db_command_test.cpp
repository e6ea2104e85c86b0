#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Db, MigrateSaysWhatItApplied) {
  test::CommandLine sluice;
  sluice.data.schema = {1, 2};
  const auto answer = sluice({"db", "migrate"});
  EXPECT_EQ(answer.exit, Exit::ok);
  EXPECT_THAT(answer.out, AllOf(HasSubstr("0001_first"), HasSubstr("before"), HasSubstr("now")));
  EXPECT_TRUE(sluice.opened.back().create);
  EXPECT_FALSE(sluice.opened.back().needs_schema);
  EXPECT_THAT(sluice({"db", "migrate", "-o", "json"}).out,
              HasSubstr(R"({"version":2,"name":"0002_second","applied_now":false})"));
}

TEST(Db, ADryRunOfAMissingFileListsEverything) {
  test::CommandLine sluice;
  sluice.store_exists = false;
  const auto answer = sluice({"db", "migrate", "--dry-run"});
  EXPECT_EQ(answer.exit, Exit::ok);
  EXPECT_THAT(answer.out, AllOf(HasSubstr("0001_first"), HasSubstr("0002_second"), HasSubstr("would be")));
}

TEST(Db, ADryRunRefusesANewerSchema) {
  test::CommandLine sluice;
  sluice.data.schema = {3, 2};
  const auto answer = sluice({"db", "migrate", "--dry-run"});
  EXPECT_EQ(answer.exit, Exit::failed);
  EXPECT_THAT(answer.err, HasSubstr("newer sluice"));
}

TEST(Db, VersionIsOneNumber) {
  test::CommandLine sluice;
  sluice.data.schema = {1, 2};
  const auto answer = sluice({"db", "version"});
  EXPECT_EQ(answer.out, "1\n");
  EXPECT_THAT(answer.err, HasSubstr("sluice db migrate"));
  EXPECT_EQ(sluice({"db", "version", "-o", "json"}).out, "{\"applied\":1,\"known\":2}\n");
}

TEST(Db, ValidateExitsWithFindings) {
  test::CommandLine sluice;
  EXPECT_EQ(sluice({"db", "validate"}).exit, Exit::ok);
  sluice.data.findings = {"table outbox is missing"};
  const auto answer = sluice({"db", "validate"});
  EXPECT_EQ(answer.exit, Exit::findings);
  EXPECT_EQ(answer.out, "table outbox is missing\n");
  EXPECT_EQ(sluice({"db", "validate", "-o", "json"}).out, "{\"findings\":[\"table outbox is missing\"]}\n");
  EXPECT_EQ(sluice({"db", "validate", "-o", "ndjson"}).out, "{\"finding\":\"table outbox is missing\"}\n");
}

TEST(Db, GrantNeedsRolesAndAMember) {
  test::CommandLine sluice;
  const auto embedded = sluice({"db", "grant"});
  EXPECT_EQ(embedded.exit, Exit::usage);
  EXPECT_THAT(embedded.err, HasSubstr("no roles"));
  sluice.data.capabilities.roles = true;
  EXPECT_EQ(sluice({"db", "grant"}).out, "created the roles\n");
  EXPECT_EQ(sluice({"db", "grant", "worker", "app"}).exit, Exit::ok);
  EXPECT_EQ(sluice({"db", "grant", "worker"}).exit, Exit::usage);
  EXPECT_EQ(sluice({"db", "grant", "admin", "app"}).exit, Exit::usage);
  EXPECT_EQ(sluice.data.granted, (std::vector<std::string>{"- ", "1 app"}));
}

TEST(Db, SqlNeedsNoStore) {
  test::CommandLine sluice;
  EXPECT_THAT(sluice({"db", "sql"}).out, AllOf(HasSubstr("-- 0001_first.sql\n"), HasSubstr("create table first();")));
  EXPECT_THAT(sluice({"db", "sql", "--store", "postgres://"}).out, HasSubstr("create schema core;"));
  EXPECT_THAT(sluice({"db", "sql", "-o", "json"}).out, HasSubstr(R"({"migrations":[{"version":1,)"));
  EXPECT_TRUE(sluice.opened.empty());
}

}  // namespace
}  // namespace sluice::cli
