// What is SQLite's own: opening files, and the errors of the layer below in one sentence each.
#include "store/sqlite/sqlite_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "store/sqlite/connection.hpp"
#include "tests/support/events.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::store {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SqliteStoreTest : public testing::Test {
 protected:
  SqliteOptions options() {
    SqliteOptions made;
    made.path = path_;
    return made;
  }
  std::unique_ptr<Store> open() {
    auto opened = open_sqlite(options());
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }
  std::unique_ptr<sqlite::Connection> raw() {
    auto opened = sqlite::Connection::open({path_, false, 0s});
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }

  test::TempDir folder_;
  std::string path_ = folder_.file("store.db");
};

TEST_F(SqliteStoreTest, CreatesTheFileAndItsFolder) {
  path_ = folder_.file("a/b/c/store.db");
  EXPECT_EQ(open()->display_name(), path_);
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(SqliteStoreTest, KeepsWhatWasCommittedAcrossAReopen) {
  const auto batch = test::events(3);
  ASSERT_TRUE(open()->publish(batch));
  EXPECT_EQ(open()->get_event(batch[2].envelope.event_id())->seq, 3);
}

TEST_F(SqliteStoreTest, KeepsThePayloadByteForByte) {
  EnvelopeDraft draft = test::a_draft();
  draft.payload = "{ \"z\" : 1.50,\n\t\"a\" : [ ] }";
  const auto store = open();
  ASSERT_TRUE(store->publish(std::vector{test::an_event(draft)}));
  EXPECT_EQ(store->get_event(draft.event_id)->envelope.payload(), draft.payload);
}

TEST_F(SqliteStoreTest, AMissingFileIsNotFoundWhenItMayNotBeCreated) {
  SqliteOptions strict = options();
  strict.create = false;
  const auto refused = open_sqlite(strict);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
  EXPECT_THAT(refused.error().message, HasSubstr(path_));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SqliteStoreTest, PathsThatCannotBeAStoreAreRefused) {
  for (const char* bad : {"", ":memory:"}) {
    SqliteOptions wrong = options();
    wrong.path = bad;
    const auto refused = open_sqlite(wrong);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_EQ(refused.error().field, "path");
  }
}

TEST_F(SqliteStoreTest, AFolderIsNotAStore) {
  std::filesystem::create_directory(path_);
  const auto refused = open_sqlite(options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("cannot open " + path_));
}

TEST_F(SqliteStoreTest, AFileThatIsNotADatabaseIsLeftAlone) {
  const std::string text(4096, 'x');
  std::ofstream{path_} << text;
  const auto refused = open_sqlite(options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
  EXPECT_EQ(refused.error().retry, Retry::never);
  EXPECT_EQ(refused.error().message, path_ + " is not a SQLite database");
  std::ifstream file{path_};
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>{file}, {}), text);
}

TEST_F(SqliteStoreTest, ANewerSchemaIsRefusedAndUntouched) {
  open();
  ASSERT_TRUE(
      raw()->script("insert into sluice_migrations values (99, '0099_later', 'x', '2026-01-01T00:00:00.000000Z')"));
  const auto refused = open_sqlite(options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::schema);
  EXPECT_TRUE(refused.error().message.starts_with("schema version 99 is newer than this build knows ("))
      << refused.error().message;
}

TEST_F(SqliteStoreTest, AnEditedMigrationIsNoticed) {
  open();
  ASSERT_TRUE(raw()->script("update sluice_migrations set checksum = 'another'"));
  const auto refused = open_sqlite(options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::schema);
  EXPECT_THAT(refused.error().message, HasSubstr("0001_tables"));
}

TEST_F(SqliteStoreTest, WithoutMigrationTheSchemaIsSaidToBeMissing) {
  SqliteOptions bare = options();
  bare.auto_migrate = false;
  auto store = open_sqlite(bare);
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->schema_version()->applied, 0);
  EXPECT_THAT(*(*store)->validate(), Contains("table outbox is missing"));
  const auto refused = (*store)->publish(test::events(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::schema);
  EXPECT_EQ(refused.error().hint, "run sluice db migrate");
  ASSERT_TRUE((*store)->migrate());
  EXPECT_TRUE((*store)->publish(test::events(1)));
}

TEST_F(SqliteStoreTest, ValidateTellsWhatWasChanged) {
  const auto store = open();
  ASSERT_TRUE(
      raw()->script("drop trigger outbox_transition; create index extra on outbox (source);"
                    "create table somebody_elses (n integer)"));
  EXPECT_THAT(*store->validate(), ElementsAre("trigger outbox_transition is missing",
                                              "index extra is not part of the schema of this build"));
}

TEST_F(SqliteStoreTest, AWriterThatDoesNotFinishIsReportedAndRetryable) {
  SqliteOptions impatient = options();
  impatient.busy_timeout = 10ms;
  auto store = open_sqlite(impatient);
  ASSERT_TRUE(store);
  const auto other = raw();
  ASSERT_TRUE(other->script("begin immediate"));
  const auto batch = test::events(1);
  const auto refused = (*store)->publish(batch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_EQ(refused.error().retry, Retry::safe);
  EXPECT_THAT(*(*store)->list_events({}, 10, {}), testing::Field(&EventPage::events, IsEmpty()))
      << "reading does not wait for writers";
  ASSERT_TRUE(other->script("rollback"));
  EXPECT_THAT(*(*store)->publish(batch), ElementsAre(PublishOutcome::published));
}

TEST_F(SqliteStoreTest, AFullDiskIsExhaustedAndRetryable) {
  open();
  const auto connection = raw();
  ASSERT_TRUE(connection->script("pragma max_page_count = 1"));
  const auto refused = connection->script("create table filler (text text)");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::exhausted);
  EXPECT_EQ(refused.error().retry, Retry::safe);
  EXPECT_EQ(refused.error().message, path_ + " cannot grow: the disk is full");
  EXPECT_THAT(refused.error().hint, HasSubstr("free some disk space"));
}

TEST_F(SqliteStoreTest, ADamagedValueIsSaidAndNotGuessed) {
  const auto store = open();
  const auto batch = test::events(1);
  ASSERT_TRUE(store->publish(batch));
  ASSERT_TRUE(raw()->script("update outbox set published_at = '2026-99-99T99:99:99.999999Z'"));
  const auto damaged = store->get_event(batch[0].envelope.event_id());
  ASSERT_TRUE(damaged);
  EXPECT_THAT(damaged->unreadable.value_or(""), HasSubstr("published_at"));
}

TEST_F(SqliteStoreTest, TimesAreTextWhoseOrderIsTheirOrder) {
  const auto store = open();
  const auto connection = raw();
  EXPECT_FALSE(
      connection->script("insert into outbox (event_type, source, generation, payload, occurred_at) "
                         "values ('a.b', 'tests', 1, '{}', '2026-01-01 00:00:00')"));
  EXPECT_TRUE(
      connection->script("insert into outbox (event_type, source, generation, payload, occurred_at) "
                         "values ('a.b', 'tests', 1, '{}', '2026-01-01T00:00:00.000000Z')"));
}

TEST_F(SqliteStoreTest, AHandMadeClaimWithoutExpiryIsExpired) {
  const auto store = open();
  ASSERT_TRUE(store->publish(test::events(1)));
  ASSERT_TRUE(raw()->script("update outbox set status = 'in_flight', claim_seq = claim_seq + 1"));
  EXPECT_EQ(store->expired_claims(10)->size(), 1U);
}

TEST_F(SqliteStoreTest, DeletingTheHeadOfAKeyFreesTheNext) {
  const auto store = open();
  const std::vector keyed{test::a_keyed_event("k"), test::a_keyed_event("k")};
  ASSERT_TRUE(store->publish(keyed));
  ASSERT_TRUE(raw()->script("delete from outbox where seq = 1"));
  ClaimRequest request;
  request.worker = "w";
  const auto claimed = store->claim(request);
  ASSERT_TRUE(claimed);
  ASSERT_EQ(claimed->size(), 1U);
  EXPECT_EQ(claimed->front().envelope.event_id(), keyed[1].envelope.event_id());
}

}  // namespace
}  // namespace sluice::store
