#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::StatementError;
using store::StatementOutcome;
using store::StatementResult;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using Values = std::vector<std::optional<std::string>>;

/// The statements of a handler, on a table of its own.
class StatementContract : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    raw_sql("create table account (owner text not null unique, cents integer)");
    effect_ = must(store().begin_effect(std::chrono::minutes{1}));
  }
  void TearDown() override {
    effect_.reset();
    StoreContract::TearDown();
  }

  StatementResult run(const std::string& sql, const Values& params = {}) {
    StatementOutcome outcome = effect_->statement(sql, params);
    if (const auto* error = std::get_if<StatementError>(&outcome)) throw std::runtime_error(error->error.message);
    return std::get<StatementResult>(std::move(outcome));
  }
  StatementError refused(const std::string& sql, const Values& params = {}) {
    StatementOutcome outcome = effect_->statement(sql, params);
    if (!std::holds_alternative<StatementError>(outcome)) throw std::runtime_error("not refused: " + sql);
    return std::get<StatementError>(std::move(outcome));
  }

  std::unique_ptr<store::EffectTransaction> effect_;
};
SLUICE_OVER_EVERY_STORE(StatementContract);

TEST_P(StatementContract, ValuesGoInAndComeBackAsText) {
  EXPECT_EQ(run("insert into account values ($1, $2)", {"it's \"ann\" — 🔥", "12"}).affected, 1);
  EXPECT_EQ(run("insert into account values ($1, $2)", {"bob", std::nullopt}).affected, 1);
  EXPECT_THAT(run("select owner, cents from account order by owner").rows,
              ElementsAre(Values{"bob", std::nullopt}, Values{"it's \"ann\" — 🔥", "12"}));
}

TEST_P(StatementContract, AParameterHasTheTypeOfItsColumn) {
  run("insert into account values ($1, $2)", {"ann", "9"});
  run("insert into account values ($1, $2)", {"bob", "10"});
  EXPECT_EQ(run("update account set cents = cents + $1 where cents < $2", {"5", "10"}).affected, 1);
  EXPECT_THAT(run("select cents from account where owner = $1", {"ann"}).rows, ElementsAre(Values{"14"}));
}

TEST_P(StatementContract, TheCountIsOfWhatThisStatementChanged) {
  run("insert into account values ('ann', 1), ('bob', 2)");
  EXPECT_EQ(run("update account set cents = 0").affected, 2);
  EXPECT_EQ(run("update account set cents = 0 where owner = $1", {"nobody"}).affected, 0);
  EXPECT_EQ(run("select owner from account").affected, 0);
  EXPECT_EQ(run("create table other (n integer)").affected, 0);
}

TEST_P(StatementContract, ItIsPartOfTheTransaction) {
  run("insert into account values ('ann', 1)");
  EXPECT_THAT(raw_sql("select owner from account"), IsEmpty());
  must(effect_->commit());
  EXPECT_THAT(raw_sql("select owner from account"), ElementsAre(Values{"ann"}));
}

TEST_P(StatementContract, AViolatedConstraintIsClass23) {
  run("insert into account values ('ann', 1)");
  for (const char* sql : {"insert into account values ('ann', 2)", "insert into account values (null, 2)"}) {
    must(effect_->mark());
    EXPECT_THAT(refused(sql).sqlstate, StartsWith("23")) << sql;
    must(effect_->undo_to_mark());
  }
  EXPECT_THAT(run("select owner from account").rows, ElementsAre(Values{"ann"})) << "what came before is kept";
}

TEST_P(StatementContract, AnythingElseIsAnotherClassAndSaysWhat) {
  must(effect_->mark());
  const StatementError missing = refused("select owner from nowhere");
  EXPECT_THAT(missing.sqlstate, testing::Not(StartsWith("23")));
  EXPECT_THAT(missing.sqlstate, testing::SizeIs(5));
  EXPECT_THAT(missing.error.message, HasSubstr("nowhere"));
  must(effect_->undo_to_mark());
}

TEST_P(StatementContract, NothingRunsAfterTheCommit) {
  must(effect_->commit());
  refused("insert into account values ('ann', 1)");
  EXPECT_THAT(raw_sql("select owner from account"), IsEmpty());
}

}  // namespace
}  // namespace sluice::contract
