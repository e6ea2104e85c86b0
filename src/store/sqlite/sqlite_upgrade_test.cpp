// A file of an older build is brought up to date, with what is in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/sqlite/connection.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::store {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

constexpr sqlite::sql::Query kChecksum{"checksum", "select checksum from sluice_migrations where version = 1"};

class SqliteUpgrade : public testing::Test {
 protected:
  static std::unique_ptr<Store> open(const std::string& path) {
    auto opened = open_sqlite({.path = path});
    if (!opened) throw std::runtime_error(opened.error().message);
    return *std::move(opened);
  }
  static std::unique_ptr<sqlite::Connection> raw(const std::string& path) {
    auto opened = sqlite::Connection::open({path, true, 10s});
    if (!opened) throw std::runtime_error(opened.error().message);
    return *std::move(opened);
  }

  /// As the first release left it: migration 1 alone, and one event in each state.
  void make_version_one() const {
    const std::string current = folder_.file("current.db");
    open(current);
    const auto checksum =
        raw(current)->first(kChecksum, {}, [](sqlite::Row& row) { return row.text(); })->value_or("unknown");
    const auto old = raw(path_);
    const auto run = [&](std::string_view statements) {
      const auto done = old->script(statements);
      ASSERT_TRUE(done) << done.error().message;
    };
    run(sqlite::sql::create_migrations_table.text);
    run(sqlite::sql::migrations.front().text);
    run("insert into sluice_migrations values (1, '0001_outbox', '" + checksum + "', '2026-01-01T00:00:00.000000Z')");
    run(R"(
      insert into outbox (id, event_type, source, generation, payload) values
        ('01890000-0000-7000-8000-000000000001', 'test.fresh', 'tests', 1, '{}'),
        ('01890000-0000-7000-8000-000000000002', 'test.waiting', 'tests', 1, '{}'),
        ('01890000-0000-7000-8000-000000000003', 'test.in_flight', 'tests', 1, '{}'),
        ('01890000-0000-7000-8000-000000000004', 'test.failed', 'tests', 1, '{}');
      update outbox set retry_after = '2026-01-01T00:00:00.000000Z' where event_type = 'test.waiting';
      update outbox set status = 'in_flight', claim_seq = 1, claimed_by = 'w0'
        where event_type in ('test.in_flight', 'test.failed');
      update outbox set status = 'failed', attempts = 5 where event_type = 'test.failed';
      insert into event_handled (handler_name, idempotency_key, event_id)
        values ('log.sink', '01890000-0000-7000-8000-000000000004', '01890000-0000-7000-8000-000000000004');)");
  }

  test::TempDir folder_;
  std::string path_ = folder_.file("store.db");
};

TEST_F(SqliteUpgrade, AFileOfVersionOneKeepsItsEventsAndDelivers) {
  make_version_one();
  const auto store = open(path_);
  EXPECT_EQ(store->schema_version()->applied, 2);
  EXPECT_THAT(*store->validate(), IsEmpty());

  ClaimRequest request;
  request.worker = "w1";
  request.interests = {{"test.*", {}, {}}};
  const auto claimed = store->claim(request);
  ASSERT_TRUE(claimed) << claimed.error().message;
  ASSERT_THAT(*claimed, SizeIs(2));
  EXPECT_EQ(claimed->front().envelope.event_type(), "test.waiting");
  EXPECT_EQ(claimed->back().envelope.event_type(), "test.fresh");
  EXPECT_THAT(claimed->front().progress, IsEmpty());

  const auto failed = store->list_events({.status = Status::failed}, 10, {});
  ASSERT_THAT(failed->events, SizeIs(1));
  EXPECT_EQ(failed->events[0].attempts, 5);
  EXPECT_THAT(*store->handled(failed->events[0]), SizeIs(1));
  EXPECT_THAT(*store->expired_claims(10), SizeIs(1));
  EXPECT_EQ(store->registry(1)->version, 0);
}

TEST_F(SqliteUpgrade, WithoutMigrationAnOlderFileIsLeftAsItIs) {
  make_version_one();
  SqliteOptions options;
  options.path = path_;
  options.auto_migrate = false;
  const auto store = open_sqlite(options);
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->schema_version()->applied, 1);
  const auto refused = (*store)->registry(1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::schema);
  EXPECT_EQ(refused.error().hint, "run sluice db migrate");
}

}  // namespace
}  // namespace sluice::store
