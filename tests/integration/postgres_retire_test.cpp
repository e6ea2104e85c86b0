// The gate at the end of a generation, while publishers have transactions open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "core/settle.hpp"
#include "ops/generations_retire.hpp"
#include "store/postgres/postgres_store.hpp"
#include "tests/support/postgres_database.hpp"
#include "tests/support/postgres_server.hpp"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const store::Actor kReleaser{"alice", "cli", "the release is over"};
constexpr std::string_view kPublish = "select core.outbox_publish('demo.hello', p_source => 'demo', p_generation => 1)";
constexpr std::string_view kRetire = "select core.generation_move(1, 'retired', 'alice', 'sql', 'over')";

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

std::string pid_of(SqlSession& session) { return session.must("select pg_backend_pid()").value(); }

/// A store whose generation 1 is live.
class Gate {
 public:
  explicit Gate(const std::string& url) {
    store::PostgresOptions options;
    options.dsn = url;
    options.max_connections = 2;
    options.check_schema = false;
    store_ = must(store::open_postgres(options));
  }
  void allocate() {
    must(store_->allocate_generation(1, "", kReleaser));
    must(store_->move_generation(1, GenerationState::live, kReleaser));
  }
  void drain() { must(store_->move_generation(1, GenerationState::draining, kReleaser)); }
  ops::RetireCheck check() { return must(ops::check_retire(*store_, 1)); }
  Result<store::Deployment> retire() { return store_->move_generation(1, GenerationState::retired, kReleaser); }
  void deliver_everything() {
    for (auto claimed = must(store_->claim({.worker = "w", .limit = 10})); !claimed.empty();
         claimed = must(store_->claim({.worker = "w", .limit = 10}))) {
      for (const auto& event : claimed) {
        store::SettleItem item;
        item.claim = event.claim;
        item.settlement = settle(event.attempts, Outcome::handled(), {}, 0.5);
        must(store_->settle(std::span{&item, 1}));
      }
    }
  }
  store::Store& store() { return *store_; }

 private:
  std::unique_ptr<store::Store> store_;
};

class PostgresRetire : public testing::Test {
 protected:
  PostgresRetire() { gate_.allocate(); }
  PostgresDatabase database_;
  Gate gate_{database_.url()};
};

TEST_F(PostgresRetire, WaitsForAPublisherThatIsOlderThanTheDrain) {
  SqlSession publisher{database_.url()};
  publisher.must("set application_name = 'orders'");
  publisher.must("begin");
  publisher.must(kPublish);
  gate_.drain();

  const auto closed = gate_.check();
  ASSERT_EQ(closed.publishers.size(), 1U);
  const std::string pid = pid_of(publisher);
  EXPECT_EQ(std::to_string(closed.publishers[0].pid), pid);
  EXPECT_EQ(closed.publishers[0].application, "orders");
  EXPECT_TRUE(closed.publishers[0].since);
  EXPECT_THAT(closed.blockers, ElementsAre(AllOf(HasSubstr("1 transaction older than the drain may still publish"),
                                                 HasSubstr("pid " + pid + " (orders, user sluice) since 20"))));
  EXPECT_THAT(to_json(closed), HasSubstr(R"("publishers":[{"pid":)" + pid + R"(,"gid":null,"user":"sluice")"));
  EXPECT_THAT(allow_retire(closed, true).error().hint, HasSubstr("select pg_terminate_backend(" + pid + ")"))
      << "nobody knows what it leaves behind: --force is no way around it";
  const auto refused = gate_.retire();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("pid " + pid + " (orders, user sluice) since 20"));

  publisher.must("commit");
  EXPECT_THAT(gate_.check().publishers, IsEmpty());
  EXPECT_THAT(gate_.check().blockers, ElementsAre("1 event pending"));
  gate_.deliver_everything();
  EXPECT_TRUE(gate_.check().retirable());
  EXPECT_TRUE(gate_.retire());
}

TEST_F(PostgresRetire, AnOldSnapshotStillTakesTheGenerationForLive) {
  SqlSession publisher{database_.url()};
  publisher.must("begin isolation level repeatable read");
  publisher.must("select 1");
  gate_.drain();
  EXPECT_EQ(gate_.check().publishers.size(), 1U);
  publisher.must("select core.outbox_publish('demo.hello', p_source => 'demo')");
  EXPECT_EQ(SqlSession{database_.url()}.run(kRetire).sqlstate, "SL409");
  publisher.must("commit");
  EXPECT_THAT(gate_.check().blockers, ElementsAre("1 event pending"));
}

TEST_F(PostgresRetire, LaterAndFailedTransactionsAndOtherDatabasesAreNotInTheWay) {
  const PostgresDatabase elsewhere;
  SqlSession other{elsewhere.url()};
  other.must("begin");
  other.must("select pg_current_xact_id()");
  SqlSession failed{database_.url()};
  failed.must("insert into core.deployments (generation) values (2)");
  failed.must("begin");
  EXPECT_FALSE(failed.run("select 1 / 0").ok());
  gate_.drain();
  SqlSession later{database_.url()};
  later.must("begin");
  later.must("select core.outbox_publish('demo.hello', p_source => 'demo', p_generation => 2)");
  EXPECT_THAT(gate_.check().blockers, IsEmpty());
  EXPECT_TRUE(gate_.retire());
}

TEST_F(PostgresRetire, AWorkerThatSleepsIsNoPublisher) {
  SqlSession awake{database_.url()};
  awake.must("select pg_advisory_lock_shared(1936487786, 7)");
  SqlSession waiting{database_.url()};
  const std::jthread asleep{[&] { waiting.must("select pg_advisory_lock(1936487786, 7)"); }};
  SqlSession looking{database_.url()};
  while (looking.must("select count(*) from pg_locks where locktype = 'advisory' and not granted").value() != "1") {
  }
  gate_.drain();
  EXPECT_THAT(gate_.check().publishers, IsEmpty());
  awake.must("select pg_advisory_unlock_all()");
}

TEST_F(PostgresRetire, PublishingIntoARetiredGenerationIsRefused) {
  SqlSession session{database_.url()};
  session.must(
      "select core.outbox_publish('demo.hello', p_generation => 1, p_event_id => "
      "'0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e')");
  gate_.deliver_everything();
  gate_.drain();
  ASSERT_TRUE(gate_.retire());
  const auto refused = session.run(kPublish);
  EXPECT_EQ(refused.sqlstate, "SL409");
  EXPECT_THAT(refused.error, HasSubstr("generation 1 is retired"));
  session.must(
      "select core.outbox_publish('demo.hello', p_generation => 1, p_event_id => "
      "'0196b2f1-7c1e-7a3b-9d2e-5f6a7b8c9d0e')");
}

/// The functions belong to a role that may not see when other users' transactions began.
class PostgresRetireInTheDark : public PostgresRetire {
 protected:
  void SetUp() override {
    SqlSession admin{database_.url()};
    admin.must("create role " + blind());
    admin.must("grant usage on schema core to " + blind());
    admin.must("grant select on core.deployments to " + blind());
    admin.must("alter function core.generation_publishers(bigint) owner to " + blind());
  }
  void TearDown() override {
    SqlSession admin{database_.url()};
    admin.must("alter function core.generation_publishers(bigint) owner to current_user");
    admin.must("drop owned by " + blind());
    admin.must("drop role " + blind());
  }
  static std::string blind() { return "blind" + std::to_string(getpid()); }
};

TEST_F(PostgresRetireInTheDark, WhatCannotBeSeenIsNotTakenForAbsent) {
  SqlSession publisher{database_.url()};
  publisher.must("begin");
  publisher.must(kPublish);
  SqlSession snapshot{database_.url()};
  snapshot.must("begin isolation level repeatable read");
  snapshot.must("select 1");
  gate_.drain();
  const auto closed = gate_.check();
  ASSERT_EQ(closed.publishers.size(), 2U);
  for (const auto& one : closed.publishers) EXPECT_FALSE(one.since);
  EXPECT_FALSE(gate_.retire());
  publisher.must("rollback");
  snapshot.must("commit");
  // Begun after the drain and without a trace in the outbox.
  SqlSession later{database_.url()};
  later.must("begin");
  later.must("select 1");
  EXPECT_THAT(gate_.check().publishers, IsEmpty());
  later.must(kPublish);
  EXPECT_EQ(gate_.check().publishers.size(), 1U) << "it wrote, and since when it runs is hidden";
  later.must("rollback");
  EXPECT_TRUE(gate_.retire());
}

TEST(PostgresRetirePrepared, APreparedTransactionIsNamedByItsGid) {
  PostgresServer server{"-c max_prepared_transactions=2"};
  Gate gate{server.url()};
  must(gate.store().migrate());
  gate.allocate();
  SqlSession publisher{server.url()};
  // With the default doorbell every publish notifies.
  publisher.must("begin");
  publisher.must(kPublish);
  EXPECT_EQ(publisher.run("prepare transaction 'order 6'").error,
            "cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY");
  publisher.run("rollback");
  publisher.must("set session_replication_role = replica");
  publisher.must("begin");
  publisher.must(kPublish);
  publisher.must("prepare transaction 'order 7'");
  publisher.must("begin");
  publisher.must("create table bystander (n int)");
  publisher.must("prepare transaction 'no event'");
  gate.drain();
  const auto closed = gate.check();
  ASSERT_EQ(closed.publishers.size(), 1U);
  EXPECT_EQ(closed.publishers[0].gid, "order 7");
  EXPECT_THAT(closed.blockers, ElementsAre(HasSubstr("prepared transaction 'order 7' of user ")));
  EXPECT_THAT(allow_retire(closed, false).error().hint, HasSubstr("rollback prepared 'order 7'"));
  EXPECT_FALSE(gate.retire());
  publisher.must("commit prepared 'order 7'");
  EXPECT_THAT(gate.check().blockers, ElementsAre("1 event pending"));
  publisher.must("rollback prepared 'no event'");
}

}  // namespace
}  // namespace sluice::test
