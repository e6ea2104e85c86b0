// What a user of PostgreSQL gets wrong: one clear sentence, the right exit code, nothing written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.hpp"
#include "tests/support/closed_port.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Schema = PostgresDatabase::Schema;

/// Each command that needs the schema, against the store.
std::vector<Finished> every_user_of(const std::string& store) {
  Home home;
  home.environment["SLUICE_STORE"] = store;
  std::vector<Finished> answers;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"publish", "demo.hello"},
                                                {"event", "list"},
                                                {"status"},
                                                {"generation", "allocate"},
                                                {"serve"}}) {
    answers.push_back(home.sluice(words));
  }
  return answers;
}

TEST(PostgresBadInput, AServerThatDoesNotAnswer) {
  const ClosedPort closed;
  const std::string store = "postgres://app:s3cret@127.0.0.1:" + closed.number() + "/app";
  for (const auto& answer : every_user_of(store)) {
    EXPECT_EQ(answer.exit, 10) << answer.err;
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.err, AllOf(StartsWith("sluice: cannot connect to "), HasSubstr("127.0.0.1"),
                                  HasSubstr("check that the server runs"), Not(HasSubstr("s3cret"))));
  }
}

TEST(PostgresBadInput, AWrongPassword) {
  const PostgresDatabase database{Schema::none};
  test::SqlSession server{database.url()};
  const std::string user = database.name();
  server.must("create role " + user + " login password 'another'");
  for (const auto& answer : every_user_of(database.url(user, "s3cret"))) {
    EXPECT_EQ(answer.exit, 4) << answer.err;
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.err, AllOf(StartsWith("sluice: cannot connect to "), HasSubstr("password authentication failed"),
                                  HasSubstr("check the user and password"), Not(HasSubstr("s3cret"))));
  }
  server.must("drop role " + user);
}

TEST(PostgresBadInput, ADatabaseThatDoesNotExist) {
  const PostgresDatabase database{Schema::none};
  for (const auto& answer : every_user_of(database.url() + "_missing")) {
    EXPECT_EQ(answer.exit, 3) << answer.err;
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.err,
                AllOf(StartsWith("sluice: cannot connect to "), HasSubstr("does not exist"), HasSubstr("createdb")));
  }
}

TEST(PostgresBadInput, ASchemaThatIsMissing) {
  const PostgresDatabase database{Schema::none};
  for (const auto& answer : every_user_of(database.url())) {
    EXPECT_EQ(answer.exit, 1) << answer.err;
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.err, AllOf(StartsWith("sluice: the schema is missing in "), HasSubstr(database.name()),
                                  HasSubstr("run `sluice db migrate`")));
  }
}

TEST(PostgresBadInput, ASchemaThatIsTooOld) {
  const PostgresDatabase database;
  SqlSession{database.url()}.must("delete from core.sluice_migrations where version > 1");
  for (const auto& answer : every_user_of(database.url())) {
    EXPECT_EQ(answer.exit, 1) << answer.err;
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.err, AllOf(StartsWith("sluice: the schema is at version 1, this build needs "),
                                  HasSubstr("run `sluice db migrate`")));
  }
}

TEST(PostgresBadInput, ASchemaThatIsTooNew) {
  const PostgresDatabase database;
  SqlSession session{database.url()};
  session.must("insert into core.sluice_migrations (version, name, checksum) values (999, '0999_future', 'x')");
  for (const auto& answer : every_user_of(database.url())) {
    EXPECT_EQ(answer.exit, 1) << answer.err;
    EXPECT_EQ(answer.out, "");
    EXPECT_THAT(answer.err,
                AllOf(StartsWith("sluice: schema version 999 is newer than this build"), HasSubstr("upgrade sluice")));
  }
  Home home;
  home.environment["SLUICE_STORE"] = database.url();
  EXPECT_EQ(home.sluice({"db", "version"}).out, "999\n");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"db", "migrate"}, {"db", "migrate", "--dry-run"}}) {
    const auto migrate = home.sluice(words);
    EXPECT_EQ(migrate.exit, 1) << migrate.err;
    EXPECT_EQ(migrate.out, "");
    EXPECT_THAT(migrate.err, HasSubstr("version 999"));
  }
  const auto validate = home.sluice({"db", "validate"});
  EXPECT_EQ(validate.exit, 6);
  EXPECT_THAT(validate.out, HasSubstr("schema version 999 is newer than this build knows"));
  EXPECT_EQ(session.must("select count(*) from core.outbox").value(), "0");
}

TEST(PostgresBadInput, AGrantForARoleThatDoesNotExist) {
  const PostgresDatabase database;
  Home home;
  home.environment["SLUICE_STORE"] = database.url();
  const auto unknown = home.sluice({"db", "grant", "reader", "nobody_of_this_name"});
  EXPECT_EQ(unknown.exit, 3) << unknown.err;
  EXPECT_EQ(unknown.out, "");
  EXPECT_THAT(unknown.err, AllOf(StartsWith("sluice: "), HasSubstr("\"nobody_of_this_name\" does not exist")));
  EXPECT_EQ(home.sluice({"db", "grant", "reader"}).exit, 2);
  EXPECT_EQ(home.sluice({"db", "grant", "admin", "sluice"}).exit, 2);
}

TEST(PostgresBadInput, MalformedJsonWritesNothing) {
  const PostgresDatabase database;
  Home home;
  home.environment["SLUICE_STORE"] = database.url();
  const auto answer = home.sluice({"publish", "demo.hello", "--data", "{\"n\":\n oops}"});
  EXPECT_EQ(answer.exit, 2);
  EXPECT_THAT(answer.err, AllOf(StartsWith("sluice: --data: "), HasSubstr("line 2, column 2")));
  EXPECT_EQ(SqlSession{database.url()}.must("select count(*) from core.outbox").value(), "0");
}

}  // namespace
}  // namespace sluice::test
