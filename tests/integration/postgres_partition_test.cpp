// From one table to monthly partitions: `sluice ladder partition` on a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "ops/ladder.hpp"
#include "store/postgres/postgres_store.hpp"
#include "tests/support/events.hpp"
#include "tests/support/partitions.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

using store::PartitionStep;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr std::array kSteps{PartitionStep::constrain, PartitionStep::validate, PartitionStep::prepare,
                            PartitionStep::swap};

class PartitionLadder : public testing::Test {
 protected:
  static std::unique_ptr<store::Store> open(const std::string& url) {
    store::PostgresOptions options;
    options.dsn = url;
    auto opened = store::open_postgres(options);
    if (!opened) throw std::runtime_error(opened.error().message);
    return *std::move(opened);
  }

  Result<ops::PartitionReport> partition(int tries = 50) { return partition(*store, tries); }
  Result<ops::PartitionReport> partition(store::Administering& of, int tries = 50) {
    ops::PartitionOrder order;
    order.actor = {"alice", "cli", "five million rows"};
    order.tries = tries;
    return ops::partition_events(
        of, order,
        {[&](const std::string& sentence) { said.push_back(sentence); }, [&](Duration) { return !interrupted; }});
  }
  void take(PartitionStep step) {
    const auto taken = store->take_partition_step({step, boundary, 3}, {"alice", "cli", ""});
    ASSERT_TRUE(taken) << taken.error().message;
  }
  [[nodiscard]] std::int64_t number(const std::string& sql) { return std::stoll(session.must(sql).value()); }
  [[nodiscard]] Uuid publish(Timestamp occurred) {
    EnvelopeDraft draft = a_draft();
    draft.occurred_at = occurred;
    const store::NewEvent event = an_event(std::move(draft));
    EXPECT_TRUE(store->publish(std::span{&event, 1}));
    return event.envelope.event_id();
  }

  PostgresDatabase database;
  SqlSession session{database.url()};
  std::unique_ptr<store::Store> store = open(database.url());
  Timestamp boundary = ops::boundary_after(*store->now());
  std::vector<std::string> said;
  bool interrupted = false;
};

TEST_F(PartitionLadder, EverythingGoesAlong) {
  session.must(
      "create table mine (id uuid); create function mine() returns trigger language plpgsql as $$ begin insert into "
      "mine "
      "values (new.id); return null; end $$; create trigger mine after insert on core.outbox for each row "
      "execute function mine(); create index mine on core.outbox (workspace_id); grant select on core.outbox to "
      "public");
  const std::string functions =
      "select string_agg(oid::regprocedure || prosrc || coalesce(proacl::text, ''), ',' order by "
      "oid::regprocedure::text) from pg_proc "
      "where pronamespace = 'core'::regnamespace";
  const std::string before = session.must(functions).value();
  const Uuid old = publish(*store->now());
  const auto report = partition();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->taken, ElementsAre(PartitionStep::constrain, PartitionStep::validate, PartitionStep::prepare,
                                         PartitionStep::swap));
  EXPECT_THAT(*store->validate(), IsEmpty());
  EXPECT_EQ(session.must(functions).value(), before) << "with their rights";
  const Uuid fresh = publish(boundary + 1h);
  EXPECT_EQ(store->get_event(old)->status, Status::pending);
  EXPECT_EQ(store->get_event(fresh)->status, Status::pending);
  EXPECT_EQ(number("select count(*) from mine"), 2) << "a trigger of the user's";
  EXPECT_EQ(number("select count(*) from pg_indexes where indexname = 'mine'"), 1);
  EXPECT_EQ(number("select count(*) from pg_class c, aclexplode(c.relacl) a where c.oid = 'core.outbox'::regclass and "
                   "a.grantee = 0"),
            1);
  const auto layout = store->partition_layout();
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->partitions.size(), 5U);
  EXPECT_TRUE(layout->partitions.back().is_default);
  EXPECT_EQ(number("select count(*) from core.audit where action = 'ladder.partition' and actor = 'alice'"), 4);
  EXPECT_EQ(
      session
          .must("select string_agg(distinct array_to_string(c.reloptions, ','), ';') from pg_class c join pg_inherits "
                "i on "
                "i.inhrelid = c.oid where i.inhparent = 'core.outbox'::regclass")
          .value(),
      "fillfactor=30,autovacuum_vacuum_scale_factor=0,autovacuum_vacuum_threshold=2000,"
      "autovacuum_vacuum_insert_scale_factor=0.1,autovacuum_analyze_scale_factor=0.02,autovacuum_vacuum_cost_delay=0");
}

TEST_F(PartitionLadder, ASecondRunSaysThatItIsDone) {
  ASSERT_TRUE(partition());
  const auto again = partition();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->already);
  EXPECT_THAT(again->taken, IsEmpty());
}

TEST_F(PartitionLadder, GoesOnAfterEachStep) {
  for (std::size_t taken = 0; taken < kSteps.size(); ++taken) {
    const PostgresDatabase other;
    store = open(other.url());
    for (std::size_t step = 0; step < taken; ++step) take(kSteps[step]);
    store = open(other.url());
    const auto report = partition();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->taken.size(), kSteps.size() - taken);
    EXPECT_EQ(report->boundary, boundary);
    EXPECT_THAT(*store->validate(), IsEmpty());
  }
}

// The connection is lost with the process: what it had not committed is undone by the server.
TEST_F(PartitionLadder, AKillWithinAStepLeavesItUndone) {
  const Uuid id = publish(*store->now());
  for (const PartitionStep step : kSteps) {
    const auto statements = store->partition_sql({step, boundary, 3});
    ASSERT_TRUE(statements);
    for (std::size_t kill = 0; kill < statements->size(); kill += step == PartitionStep::swap ? 5 : 1) {
      SqlSession killed{database.url()};
      killed.must("begin; lock table core.outbox in access exclusive mode");
      for (std::size_t at = 0; at <= kill; ++at) killed.must((*statements)[at]);
    }
    take(step);
  }
  EXPECT_TRUE(store->partition_layout()->partitioned);
  EXPECT_THAT(*store->validate(), IsEmpty());
  EXPECT_EQ(store->get_event(id)->status, Status::pending);
}

TEST_F(PartitionLadder, ADryRunPrintsTheSqlAndChangesNothing) {
  const std::string state = "select count(*) || '/' || (select count(*) from pg_constraint) from pg_class";
  const std::string before = session.must(state).value();
  const auto plan = ops::plan_partition(*store, {});
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->size(), 4U);
  EXPECT_THAT(plan->front().sql, ElementsAre(HasSubstr("add constraint outbox_month check (occurred_at < '")));
  EXPECT_THAT(plan->back().sql, testing::Contains(HasSubstr("attach partition core.outbox_until_")));
  EXPECT_EQ(session.must(state).value(), before);
}

TEST_F(PartitionLadder, WhoHoldsTheTableIsNamed) {
  SqlSession other{database.url()};
  other.must("begin; select core.outbox_publish('a.b')");
  const std::string pid = other.must("select pg_backend_pid()").value();
  const auto report = partition(2);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::conflict);
  EXPECT_THAT(report.error().message, HasSubstr("pid " + pid));
  EXPECT_THAT(report.error().message, HasSubstr("tried 2 times"));
  other.must("commit");
  EXPECT_TRUE(partition());
}

TEST_F(PartitionLadder, AnInterruptionIsGoneOnFrom) {
  interrupted = true;
  const auto first = partition();
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->interrupted);
  EXPECT_EQ(first->taken.size(), 1U);
  interrupted = false;
  EXPECT_EQ(partition()->taken.size(), 3U);
}

TEST_F(PartitionLadder, EventsOfTheFutureAreRefusedBeforeAnythingIsLeftBehind) {
  static_cast<void>(publish(boundary + std::chrono::days{40}));
  const auto report = partition();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().field, "first-month");
  EXPECT_FALSE(store->partition_layout()->boundary) << "it would refuse publishers for nothing";
}

TEST_F(PartitionLadder, WhatCannotGoAlongIsNamed) {
  session.must("create view mine as select id from core.outbox");
  auto refused = partition();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("view public.mine"));
  session.must("drop view mine; create table theirs (id uuid references core.outbox)");
  refused = partition();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("table public.theirs has a foreign key"));
  session.must("drop table theirs");
  EXPECT_TRUE(partition());
}

TEST_F(PartitionLadder, AnAbandonedRunLeavesNothing) {
  const std::string state = "select count(*) || '/' || (select count(*) from pg_constraint) from pg_class";
  const std::string before = session.must(state).value();
  take(PartitionStep::constrain);
  take(PartitionStep::validate);
  take(PartitionStep::prepare);
  ASSERT_TRUE(ops::abandon_partition(*store, {"alice", "cli", ""}));
  EXPECT_EQ(session.must(state).value(), before);
  ASSERT_TRUE(partition());
  EXPECT_EQ(ops::abandon_partition(*store, {"alice", "cli", ""}).error().code, ErrorCode::conflict);
}

// Sessions have compiled the functions with the row type of the table that was.
TEST_F(PartitionLadder, OpenSessionsGoOn) {
  const Uuid first = publish(*store->now());
  const store::ClaimRequest request{.worker = "w"};
  const auto claimed = store->claim(request);
  ASSERT_EQ(claimed->size(), 1U);
  const Uuid second = publish(*store->now());
  session.must("select core.outbox_park('{}')");
  ASSERT_TRUE(partition(*open(database.url())));
  store::SettleItem item;
  item.claim = claimed->front().claim;
  item.settlement.next = Status::delivered;
  EXPECT_EQ(store->settle(std::span{&item, 1})->settled, 1);
  EXPECT_EQ(store->get_event(first)->status, Status::delivered);
  EXPECT_EQ(store->claim(request)->front().envelope.event_id(), second);
  session.must("select core.outbox_park(array(select id from core.outbox))");
}

TEST(PartitionMonths, TheFirstIsAWeekAheadAtLeast) {
  const auto of = [](int month, int day) {
    return ops::month_text(ops::boundary_after(Timestamp{std::chrono::sys_days{std::chrono::year{2026} / month / day}} +
                                               std::chrono::hours{5}));
  };
  EXPECT_EQ(of(11, 18), "2026-12");
  EXPECT_EQ(of(11, 23), "2026-12");
  EXPECT_EQ(of(11, 24), "2027-01");
  EXPECT_EQ(of(12, 31), "2027-02");
}

TEST(PartitionMonths, AreWrittenInOneForm) {
  EXPECT_EQ(ops::month_text(*ops::parse_month("2026-12", "--first-month")), "2026-12");
  for (const std::string text : {"", "2026", "2026-13", "2026-1", "26-01", "2026-12-01", "2026/12", "x"}) {
    EXPECT_EQ(ops::parse_month(text, "--first-month").error().field, "--first-month") << text;
  }
}

}  // namespace
}  // namespace sluice::test
