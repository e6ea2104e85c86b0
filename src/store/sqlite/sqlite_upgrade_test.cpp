// A file of an older build is brought up to date, with what is in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/sqlite/connection.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::store {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::IsEmpty;
using testing::SizeIs;

constexpr sqlite::sql::Query kChecksum{"checksum", "select checksum from sluice_migrations where version = :version"};

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

  /// As an older release left it: its migrations, and events.
  void make_version(int version, std::string_view events) const {
    const std::string current = folder_.file("current.db");
    open(current);
    const auto known = raw(current);
    const auto old = raw(path_);
    const auto run = [&](std::string_view statements) {
      const auto done = old->script(statements);
      ASSERT_TRUE(done) << done.error().message;
    };
    run(sqlite::sql::migration_table.text);
    for (const sqlite::sql::Migration& migration : sqlite::sql::migrations) {
      if (migration.version > version) break;
      const auto checksum =
          known->first(kChecksum, {{":version", migration.version}}, [](sqlite::Row& row) { return row.text(); });
      run(migration.text);
      run("insert into sluice_migrations values (" + std::to_string(migration.version) + ", '" +
          std::string{migration.name} + "', '" + checksum->value_or("unknown") + "', '2026-01-01T00:00:00.000000Z')");
    }
    run(events);
  }

  void make_version_one() const {
    make_version(1, R"(
      insert into outbox (id, idempotency_key, event_type, source, generation, payload, status, claim_seq, claimed_by,
                          retry_after) values
        ('01890000-0000-7000-8000-000000000001', 'k1', 'test.fresh', 'tests', 1, '{}', 'pending', 0, null, null),
        ('01890000-0000-7000-8000-000000000002', 'k2', 'test.waiting', 'tests', 1, '{}', 'pending', 0, null,
         '2026-01-01T00:00:00.000000Z'),
        ('01890000-0000-7000-8000-000000000003', 'k3', 'test.in_flight', 'tests', 1, '{}', 'in_flight', 1, 'w0', null);
      insert into event_handled (handler_name, idempotency_key, event_id)
        values ('log.sink', 'k3', '01890000-0000-7000-8000-000000000003');)");
  }

  test::TempDir folder_;
  std::string path_ = folder_.file("store.db");
};

TEST_F(SqliteUpgrade, AFileOfVersionOneKeepsItsEventsAndDelivers) {
  make_version_one();
  const auto store = open(path_);
  EXPECT_EQ(store->schema_version()->applied, store->schema_version()->known);
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

  const auto in_flight = store->list_events({.event_type = "test.in_flight"}, 10, {});
  ASSERT_THAT(in_flight->events, SizeIs(1));
  EXPECT_THAT(*store->handled(in_flight->events[0]), SizeIs(1));
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
  EXPECT_THAT(*(*store)->validate(), Contains("trigger outbox_transition is missing"));
}

}  // namespace
}  // namespace sluice::store
