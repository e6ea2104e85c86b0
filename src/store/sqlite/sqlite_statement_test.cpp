#include "store/sqlite/sqlite_statement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

namespace sluice::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Values = std::vector<std::optional<std::string>>;

class SqliteStatement : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(sqlite3_open(":memory:", &db_), SQLITE_OK);
    must("create table account (id integer primary key, owner text not null unique, cents integer) strict");
    must("insert into account values (1, 'ann', 5), (2, 'bob', null)");
  }
  void TearDown() override { EXPECT_EQ(sqlite3_close(db_), SQLITE_OK); }

  StatementOutcome run(std::string_view sql, const Values& params = {}) { return run_statement(db_, sql, params); }
  StatementResult must(std::string_view sql, const Values& params = {}) {
    auto outcome = run(sql, params);
    if (const auto* error = std::get_if<StatementError>(&outcome)) throw std::runtime_error(error->error.message);
    return std::get<StatementResult>(std::move(outcome));
  }
  StatementError error(std::string_view sql, const Values& params = {}) {
    auto outcome = run(sql, params);
    if (std::holds_alternative<StatementResult>(outcome)) throw std::runtime_error("no error");
    return std::get<StatementError>(std::move(outcome));
  }

  sqlite3* db_ = nullptr;
};

TEST_F(SqliteStatement, RowsComeAsText) {
  const auto result = must("select id, owner, cents from account order by id");
  EXPECT_THAT(result.rows, ElementsAre(Values{"1", "ann", "5"}, Values{"2", "bob", std::nullopt}));
  EXPECT_EQ(result.affected, 0);
}

TEST_F(SqliteStatement, ParametersGoByTheirNumberAndMayRepeat) {
  const auto result = must("select $2, $1, $2 where $3 is null", {"a", "b", std::nullopt});
  EXPECT_THAT(result.rows, ElementsAre(Values{"b", "a", "b"}));
}

TEST_F(SqliteStatement, TextBecomesTheTypeOfTheColumn) {
  EXPECT_EQ(must("update account set cents = cents + $1 where id = $2", {"7", "1"}).affected, 1);
  EXPECT_THAT(must("select cents, typeof(cents) from account where cents > $1", {"9"}).rows,
              ElementsAre(Values{"12", "integer"}));
}

TEST_F(SqliteStatement, AffectedCountsOnlyThisStatement) {
  EXPECT_EQ(must("update account set cents = 1").affected, 2);
  EXPECT_EQ(must("select 1").affected, 0);
  EXPECT_EQ(must("create table other (n integer)").affected, 0);
  EXPECT_EQ(must("delete from account where id = $1", {"9"}).affected, 0);
}

TEST_F(SqliteStatement, ReturningGivesRowsAndACount) {
  const auto result = must("insert into account (owner) values ($1) returning id", {"eve"});
  EXPECT_THAT(result.rows, ElementsAre(Values{"3"}));
  EXPECT_EQ(result.affected, 1);
}

TEST_F(SqliteStatement, EveryViolatedConstraintIsClass23) {
  must("create table entry (account integer references account (id), cents integer check (cents > 0))");
  must(
      "create trigger no_bob before delete on account when old.owner = 'bob' "
      "begin select raise(abort, 'bob stays'); end");
  sqlite3_exec(db_, "pragma foreign_keys = on", nullptr, nullptr, nullptr);
  for (const char* sql : {"insert into account values (1, 'eve', 0)", "insert into account (owner) values ('ann')",
                          "insert into account (owner) values (null)", "insert into entry values (1, 0)",
                          "insert into entry values (9, 1)", "delete from account where owner = 'bob'"}) {
    EXPECT_EQ(error(sql).sqlstate, "23000") << sql;
  }
}

TEST_F(SqliteStatement, OtherErrorsAreGeneralOnes) {
  const StatementError missing = error("select * from nowhere");
  EXPECT_EQ(missing.sqlstate, "HY000");
  EXPECT_EQ(missing.error.message, "no such table: nowhere");
  EXPECT_THAT(missing.error.hint, IsEmpty()) << "it is the handler's table and not the store's";
  EXPECT_EQ(error("selct 1").sqlstate, "HY000");
}

TEST_F(SqliteStatement, ParametersAndValuesMustMatch) {
  EXPECT_THAT(error("select $1", {"a", "b"}).error.message, HasSubstr("does not use its parameter $2"));
  EXPECT_THAT(error("select $1, $2", {"a"}).error.message, HasSubstr("parameters without a value"));
  EXPECT_THAT(error("select ?", {}).error.message, HasSubstr("parameters without a value"));
}

TEST_F(SqliteStatement, ExactlyOneStatement) {
  EXPECT_THAT(error("").error.message, HasSubstr("empty"));
  EXPECT_THAT(error("delete from account; delete from account").error.message, HasSubstr("expected one statement"));
  EXPECT_EQ(must("select count(*) from account;\n").rows, (std::vector<Values>{{"2"}}));
}

}  // namespace
}  // namespace sluice::store
