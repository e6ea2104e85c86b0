// The binary against a real PostgreSQL: ending a generation, the doorbell, workers and subscriptions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "store/postgres/postgres_store.hpp"
#include "tests/cli/process.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class PostgresDelivery : public testing::Test {
 protected:
  PostgresDelivery() : database_(PostgresDatabase::Schema::migrated) {
    home_.environment["SLUICE_STORE"] = database_.url();
  }
  Finished sluice(const std::vector<std::string>& words) { return home_.sluice(words); }
  std::string sql(const std::string& statement) const { return SqlSession{database_.url()}.must(statement).value(); }
  /// Generation 1 drains with this many events, generation 2 is live.
  void drain_with(int events) {
    for (const std::string number : {"1", "2"}) {
      ASSERT_EQ(sluice({"generation", "allocate", number}).exit, 0);
      ASSERT_EQ(sluice({"generation", "activate", number}).exit, 0);
    }
    sql("select count(core.outbox_publish('demo.hello', p_source => 'demo', p_generation => 1)) from "
        "generate_series(1, " +
        std::to_string(events) + ")");
    ASSERT_EQ(sluice({"generation", "drain", "1"}).exit, 0);
  }

  PostgresDatabase database_;
  Home home_;
};

TEST_F(PostgresDelivery, AGenerationEndsWhenItsEventsAreRerouted) {
  drain_with(1200);
  const auto closed = sluice({"generation", "retire", "1", "--check"});
  EXPECT_EQ(closed.exit, 6) << closed.err;
  EXPECT_THAT(closed.out, AllOf(HasSubstr("draining, 1200 left, NO WORKER"), HasSubstr("1200 events pending")));
  EXPECT_EQ(sluice({"generation", "retire", "1"}).exit, 5);
  EXPECT_EQ(sluice({"generation", "reroute", "1", "--to", "2", "--dry-run"}).out, "1200\n");
  EXPECT_EQ(sluice({"generation", "reroute", "1", "--to", "2", "--reason", "late"}).exit, 2) << "nobody said yes";

  const auto moved = sluice({"generation", "reroute", "1", "--to", "2", "--reason", "late", "--as", "bob", "--yes"});
  EXPECT_EQ(moved.exit, 0) << moved.err;
  EXPECT_EQ(moved.out, "1200\n");
  EXPECT_EQ(sql("select string_agg(distinct generation || ' ' || channel, ',') from core.outbox"), "2 outbox_gen_2");
  EXPECT_EQ(sql("select sum(count) from core.audit where action = 'reroute' and actor = 'bob' and reason = 'late'"),
            "1200");

  EXPECT_EQ(sluice({"generation", "retire", "1", "--check"}).exit, 0);
  EXPECT_EQ(sluice({"generation", "retire", "1"}).exit, 0);
  EXPECT_EQ(sql("select state from core.deployments where generation = 1"), "retired");
  EXPECT_EQ(sluice({"generation", "reroute", "2", "--to", "1", "--reason", "back", "--yes"}).exit, 5);
}

TEST_F(PostgresDelivery, AWorkerEmptiesADrainingGeneration) {
  drain_with(3);
  const auto worker = home_.start({"serve", "--generation", "1", "-o", "json"});
  ASSERT_THAT(worker->read_line(), HasSubstr("\"ready\":true"));
  EXPECT_THAT(sluice({"worker", "list", "-o", "json"}).out,
              AllOf(HasSubstr(R"("generation":1,"handlers":["sluice.log"])"), HasSubstr(R"("alive":true)")));
  EXPECT_THAT(sluice({"subscription", "list", "-o", "ndjson"}).out, HasSubstr(R"("handler_name":"sluice.log")"));
  EXPECT_THAT(sluice({"generation", "list"}).out, Not(HasSubstr("NO WORKER")));
  // Published for generation 1 by name, as a publisher of the old release would.
  EXPECT_EQ(sluice({"publish", "demo.last", "--generation", "1", "--wait", "--timeout", "60s"}).exit, 0);
  worker->signal(SIGTERM);
  EXPECT_EQ(worker->finish().exit, 0);
}

TEST_F(PostgresDelivery, TheDoorbellIsReadAndSet) {
  EXPECT_EQ(sluice({"db", "doorbell"}).out, "always\n");
  const auto planned = sluice({"db", "doorbell", "when-idle", "--dry-run", "-o", "json"});
  EXPECT_EQ(planned.out, "{\"dry_run\":true,\"doorbell\":\"when-idle\",\"before\":\"always\"}\n") << planned.err;
  EXPECT_EQ(sluice({"db", "doorbell", "-o", "json"}).out, "{\"doorbell\":\"always\"}\n");

  const auto set = sluice({"db", "doorbell", "when-idle", "--as", "bob", "--reason", "busy publishers"});
  EXPECT_EQ(set.exit, 0) << set.err;
  EXPECT_THAT(set.err, HasSubstr("is now when-idle, was always"));
  EXPECT_EQ(sluice({"db", "doorbell"}).out, "when-idle\n");
  EXPECT_EQ(sql("select actor || ' ' || surface || ' ' || reason from core.audit where action = 'doorbell'"),
            "bob cli busy publishers");
  EXPECT_EQ(sluice({"db", "validate"}).exit, 0);
  EXPECT_EQ(sluice({"db", "doorbell", "always"}).exit, 0);
  EXPECT_EQ(sluice({"db", "doorbell"}).out, "always\n");
}

TEST_F(PostgresDelivery, WhatNobodySubscribesToIsVisible) {
  ASSERT_EQ(sluice({"publish", "demo.hello", "--target", "billing"}).exit, 0);
  EXPECT_THAT(sluice({"status"}).out,
              AllOf(HasSubstr("none alive"), HasSubstr("generation 1: no deployment, 1 left, NO WORKER"),
                    HasSubstr("nobody subscribes to: 1 × demo.hello → billing, oldest ")));
  const auto store = store::open_postgres({.dsn = database_.url(), .sweep_interval = {}});
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE((*store)->subscribe(1, std::vector<Subscription>{{.handler_name = "billing.meter"}}));
  EXPECT_THAT(sluice({"status"}).out, Not(HasSubstr("nobody subscribes")));
  const auto planned = sluice({"subscription", "remove", "billing.meter", "--dry-run"});
  EXPECT_THAT(planned.err, HasSubstr("1 of the pending events wait for it")) << planned.err;
  EXPECT_EQ(sluice({"subscription", "remove", "billing.meter", "--reason", "gone"}).exit, 0);
  EXPECT_THAT(sluice({"status", "-o", "json"}).out, HasSubstr(R"("target":"billing","count":1)"));
}

TEST_F(PostgresDelivery, RetentionSweepsAndSaysHowMuch) {
  sql("insert into core.event_handled (handler_name, idempotency_key, handled_at) "
      "select 'billing.meter', i::text, now() - interval '90 days' from generate_series(1, 2500) i; select 1");
  EXPECT_THAT(sluice({"retention", "sweep", "--dry-run", "-o", "json"}).out, HasSubstr(R"("handled_deleted":2500)"));
  EXPECT_EQ(sql("select count(*) from core.event_handled"), "2500");
  const auto swept = sluice({"retention", "sweep", "-o", "json"});
  EXPECT_EQ(swept.exit, 0) << swept.err;
  EXPECT_THAT(swept.out, AllOf(HasSubstr(R"("handled_deleted":2500)"), HasSubstr(R"("more":false)")));
  EXPECT_EQ(sql("select count(*) from core.event_handled"), "0");
}

}  // namespace
}  // namespace sluice::test
