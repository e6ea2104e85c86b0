// Publishing on a connection and in a transaction of the caller's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "store/sqlite/sqlite_store.hpp"
#include "tests/support/events.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SqlitePublishOn : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = open_sqlite({.path = path_});
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = *std::move(opened);
    ASSERT_EQ(sqlite3_open(path_.c_str(), &mine_), SQLITE_OK);
    sql("create table orders (id text primary key)");
  }
  void TearDown() override { EXPECT_EQ(sqlite3_close(mine_), SQLITE_OK) << "no statement of ours may be left open"; }

  void sql(const char* statement) {
    ASSERT_EQ(sqlite3_exec(mine_, statement, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(mine_);
  }
  bool stored(const NewEvent& event) { return store_->get_event(event.envelope.event_id()).has_value(); }

  test::TempDir folder_;
  std::string path_ = folder_.file("store.db");
  std::unique_ptr<Store> store_;
  sqlite3* mine_ = nullptr;
};

TEST_F(SqlitePublishOn, CommitsWithTheBusinessRow) {
  const auto batch = test::events(2);
  sql("begin; insert into orders values ('17')");
  EXPECT_THAT(*publish_on(mine_, batch, test::wall_clock()),
              ElementsAre(PublishOutcome::published, PublishOutcome::published));
  EXPECT_FALSE(stored(batch[0]));
  sql("commit");
  EXPECT_TRUE(stored(batch[0]));
  EXPECT_TRUE(stored(batch[1]));
}

TEST_F(SqlitePublishOn, RollsBackWithTheBusinessRow) {
  const auto batch = test::events(1);
  sql("begin; insert into orders values ('17')");
  ASSERT_TRUE(publish_on(mine_, batch, test::wall_clock()));
  sql("rollback");
  EXPECT_FALSE(stored(batch[0]));
}

TEST_F(SqlitePublishOn, NeedsATransaction) {
  const auto batch = test::events(1);
  const auto refused = publish_on(mine_, batch, test::wall_clock());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_EQ(refused.error().field, "transaction");
  EXPECT_FALSE(stored(batch[0]));
}

TEST_F(SqlitePublishOn, AnIdThatIsStoredIsADuplicate) {
  const auto batch = test::events(1);
  ASSERT_TRUE(store_->publish(batch));
  sql("begin");
  EXPECT_THAT(*publish_on(mine_, batch, test::wall_clock()), ElementsAre(PublishOutcome::duplicate));
  sql("commit");
}

TEST_F(SqlitePublishOn, AfterAnErrorNothingOfTheBatchStaysAndTheTransactionGoesOn) {
  auto batch = test::events(2);
  batch[1].channel = std::string(64, 'x');
  sql("begin; insert into orders values ('17')");
  const auto refused = publish_on(mine_, batch, test::wall_clock());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("channel must have 1 to 63 bytes"));
  sql("insert into orders values ('18'); commit");
  EXPECT_FALSE(stored(batch[0]));
  EXPECT_FALSE(stored(batch[1]));
}

TEST_F(SqlitePublishOn, ADelayCountsFromTheTimeGiven) {
  auto batch = test::events(1);
  batch[0].delay = std::chrono::hours{1};
  const Timestamp now = test::wall_clock();
  sql("begin");
  ASSERT_TRUE(publish_on(mine_, batch, now));
  sql("commit");
  const auto event = store_->get_event(batch[0].envelope.event_id());
  EXPECT_EQ(event->retry_after, now + std::chrono::hours{1});
  EXPECT_EQ(event->published_at, now);
}

TEST(SqlitePublishOnAnyFile, WithoutTheSchemaItSaysWhatToDo) {
  sqlite3* plain = nullptr;
  ASSERT_EQ(sqlite3_open(":memory:", &plain), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(plain, "begin", nullptr, nullptr, nullptr), SQLITE_OK);
  const auto refused = publish_on(plain, test::events(1), test::wall_clock());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::schema);
  EXPECT_EQ(refused.error().hint, "run sluice db migrate");
  sqlite3_close(plain);
}

}  // namespace
}  // namespace sluice::store
