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
    run(sqlite::sql::create_migrations_table.text);
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
  EXPECT_EQ(store->schema_version()->applied, 4);
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

TEST_F(SqliteUpgrade, TheFailedEventsOfVersionTwoBecomeDeadLettersOfAKind) {
  make_version(2, R"(
      insert into outbox (id, event_type, source, generation, payload, status, last_error, failure_class, fingerprint,
                          first_failed_at, claimed_at, published_at, deleted_at) values
        ('01890000-0000-7000-8000-000000000001', 'test.failed', 'tests', 1, '{}', 'failed', 'Timeout: no answer', 'Timeout',
         'f1', '2026-01-01T00:00:01.000000Z', '2026-01-01T00:00:09.000000Z', '2026-01-01T00:00:00.000000Z', null),
        ('01890000-0000-7000-8000-000000000002', 'test.failed', 'tests', 2, '{}', 'failed', 'Timeout: later', 'Timeout',
         'f1', '2026-01-01T00:00:02.000000Z', '2026-01-01T00:00:08.000000Z', '2026-01-01T00:00:00.000000Z', null),
        ('01890000-0000-7000-8000-000000000003', 'test.failed', 'tests', 1, '{}', 'failed', 'Timeout: gone', 'Timeout',
         'f1', '2026-01-01T00:00:03.000000Z', '2026-01-01T00:00:07.000000Z', '2026-01-01T00:00:00.000000Z',
         '2026-01-02T00:00:00.000000Z'),
        ('01890000-0000-7000-8000-000000000004', 'test.unknown', 'tests', 1, '{}', 'failed', null, null, null, null, null,
         '2026-01-01T00:00:00.000000Z', null),
        ('01890000-0000-7000-8000-000000000005', 'test.fresh', 'tests', 1, '{}', 'pending', null, null, null, null, null,
         '2026-01-01T00:00:00.000000Z', null);)");
  const auto store = open(path_);
  EXPECT_EQ(store->schema_version()->applied, 4);
  EXPECT_THAT(*store->validate(), IsEmpty());

  const auto dead = store->list_dead({}, 10, {});
  ASSERT_TRUE(dead) << dead.error().message;
  ASSERT_THAT(dead->events, SizeIs(3));
  EXPECT_EQ(dead->events[0].seq, 1);
  EXPECT_EQ(dead->events[0].failed_at, dead->events[0].claimed_at);
  EXPECT_EQ(dead->events[1].seq, 2);
  EXPECT_EQ(dead->events[2].failed_at, dead->events[2].published_at);

  const auto groups = store->failure_groups({});
  ASSERT_TRUE(groups) << groups.error().message;
  ASSERT_THAT(*groups, SizeIs(2));
  EXPECT_EQ((*groups)[0].count, 2);
  EXPECT_EQ((*groups)[0].sample_error, "Timeout: no answer");
  EXPECT_EQ((*groups)[0].first_seen_at, *parse_iso8601("2026-01-01T00:00:01Z"));
  EXPECT_EQ((*groups)[0].last_generation, 2);
  EXPECT_EQ((*groups)[1].error_class, "Error");

  PlanRequest restore;
  restore.id = *Uuid::parse("01890000-0000-7000-8000-0000000000ff", "id");
  restore.kind = OperationKind::restore;
  restore.filter.fingerprint = "f1";
  EXPECT_EQ(store->plan_operation(restore)->progress.counts.total, 1);
}

TEST_F(SqliteUpgrade, AKeyOfVersionThreeThatWaitsForAnUnwantedEventIsReleased) {
  make_version(3, R"(
      insert into subscriptions values (1, 'tests.all', '["test.*"]', null, null, '2026-01-01T00:00:00.000000Z');
      insert into outbox (id, event_type, source, generation, payload, ordering_key) values
        ('01890000-0000-7000-8000-000000000001', 'unwanted', 'tests', 1, '{}', 'a'),
        ('01890000-0000-7000-8000-000000000002', 'test.next', 'tests', 1, '{}', 'a'),
        ('01890000-0000-7000-8000-000000000003', 'test.last', 'tests', 1, '{}', 'a');)");
  const auto store = open(path_);
  EXPECT_THAT(*store->validate(), IsEmpty());
  ClaimRequest request;
  request.worker = "w1";
  const auto claimed = store->claim(request);
  ASSERT_TRUE(claimed) << claimed.error().message;
  ASSERT_THAT(*claimed, SizeIs(1));
  EXPECT_EQ(claimed->front().envelope.event_type(), "test.next");
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
