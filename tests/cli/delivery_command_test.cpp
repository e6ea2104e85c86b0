// Who works, who wants what, what nobody wants, and what is swept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/in_process.hpp"

namespace sluice::cli {
namespace {

using std::chrono::days;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class DeliveryCommands : public testing::Test {
 protected:
  void announce(const std::string& identity, const std::string& listener, Generation generation = 1) {
    sluice_.store.announce(
        {.identity = identity, .generation = generation, .handlers = {"billing.meter"}, .listener = listener});
  }
  void subscribe(const Subscription& subscription, Generation generation = 1) {
    sluice_.store.subscribe(generation, {subscription});
  }
  test::CommandLine sluice_;
};

using Workers = DeliveryCommands;

TEST_F(Workers, AreListedAlsoWhenSilent) {
  EXPECT_THAT(sluice_({"worker", "list"}).err, HasSubstr("no worker was seen"));
  announce("host-1", "listening");
  sluice_.store.now += std::chrono::minutes{5};
  announce("host-2", "polling", 2);
  const auto table = sluice_({"worker", "list"});
  EXPECT_EQ(table.exit, Exit::ok) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("host-1"), HasSubstr("5m ago, SILENT"), HasSubstr("host-2"),
                               HasSubstr("polling"), HasSubstr("0s ago ")));
  EXPECT_THAT(sluice_({"worker", "list", "-o", "json"}).out,
              AllOf(HasSubstr(R"({"workers":[{"identity":"host-1","generation":1,)"), HasSubstr(R"("alive":false)"),
                    HasSubstr(R"("alive":true)")));
  EXPECT_THAT(sluice_({"worker", "list", "-o", "ndjson"}).out, testing::StartsWith(R"({"identity":"host-1")"));
}

using Subscriptions = DeliveryCommands;

TEST_F(Subscriptions, AreListedByGeneration) {
  EXPECT_THAT(sluice_({"subscription", "list"}).err, HasSubstr("no handler is subscribed"));
  subscribe({.handler_name = "billing.meter", .event_types = {"order.*", "user.created"}, .context = "billing"});
  subscribe({.handler_name = "worlds.indexer"}, 2);
  const auto table = sluice_({"subscription", "list"});
  EXPECT_THAT(table.out, AllOf(HasSubstr("order.* user.created  billing"), HasSubstr("worlds.indexer")));
  const auto second = sluice_({"subscription", "list", "--generation", "2", "-o", "ndjson"});
  EXPECT_THAT(second.out, AllOf(HasSubstr("worlds.indexer"), Not(HasSubstr("billing.meter"))));
  EXPECT_THAT(sluice_({"subscription", "list", "-o", "json"}).out,
              HasSubstr(R"({"subscriptions":[{"generation":1,"handler_name":"billing.meter",)"));
  EXPECT_EQ(sluice_({"subscription", "list", "--generation", "x"}).exit, Exit::usage);
}

TEST_F(Subscriptions, ARemovalSaysWhatWaitsAndIsAudited) {
  subscribe({.handler_name = "billing.meter"});
  sluice_.store.publish(test::id_of(1));
  const auto plan = sluice_({"subscription", "remove", "billing.meter", "--dry-run"});
  EXPECT_EQ(plan.exit, Exit::ok) << plan.err;
  EXPECT_THAT(plan.err, AllOf(HasSubstr("1 of the pending events wait for it; nobody else subscribes to 1 of them"),
                              HasSubstr("dry run")));
  EXPECT_EQ(sluice_.store->subscriptions()->size(), 1U);

  EXPECT_EQ(sluice_({"subscription", "remove", "billing.meter"}).exit, Exit::usage) << "no reason";
  announce("host-1", "listening");
  const auto removed = sluice_({"subscription", "remove", "billing.meter", "--reason", "gone", "-o", "json"});
  EXPECT_EQ(removed.exit, Exit::ok) << removed.err;
  EXPECT_THAT(removed.out, AllOf(HasSubstr(R"({"dry_run":false,"subscription":{"generation":1,)"),
                                 HasSubstr(R"("waiting":1,"orphaned":1,"complete":true})")));
  EXPECT_THAT(removed.err, HasSubstr("1 of the live workers host it"));
  EXPECT_THAT(*sluice_.store->subscriptions(), IsEmpty());
  EXPECT_THAT(sluice_.store.sql("select actor || ', ' || reason from audit where action = 'unsubscribe'"),
              ElementsAre("alice@box, gone"));
  EXPECT_EQ(sluice_({"subscription", "remove", "billing.meter", "--reason", "gone"}).exit, Exit::not_found);
}

using StatusCommand = DeliveryCommands;

TEST_F(StatusCommand, NamesWhatNeedsAttention) {
  sluice_.store.bring_generation(1, GenerationState::draining);
  for (int number = 1; number <= 3; ++number) sluice_.store.publish(test::id_of(number));
  sluice_.store.now += std::chrono::minutes{3};
  announce("host-2", "deaf", 2);
  const auto table = sluice_({"status"});
  EXPECT_THAT(table.out, AllOf(HasSubstr("1 alive"), HasSubstr("generation 1: draining, 3 left, NO WORKER\n"),
                               HasSubstr("worker host-2 of generation 2: its listener is deaf\n"),
                               HasSubstr("nobody subscribes to: 3 × demo.hello, oldest 3m, generation 1\n")));
  EXPECT_THAT(
      sluice_({"status", "-o", "json"}).out,
      AllOf(HasSubstr(R"("workers":0,"abandoned":true)"), HasSubstr(R"("listener":"deaf")"),
            HasSubstr(R"("unsubscribed":[{"generation":1,"event_type":"demo.hello","target":null,"count":3,)")));
}

TEST_F(StatusCommand, AHealthyStoreHasNothingToSay) {
  sluice_.store.publish(test::id_of(1));
  subscribe({.handler_name = "billing.meter"});
  announce("host-1", "listening");
  const auto table = sluice_({"status"});
  EXPECT_THAT(table.out, AllOf(Not(HasSubstr("NO WORKER")), Not(HasSubstr("nobody")), Not(HasSubstr("listener"))));
}

TEST_F(StatusCommand, ManyKindsOfUnwantedEventsAreCutShort) {
  for (int kind = 0; kind < 12; ++kind) {
    sluice_(
        {"publish", "demo.kind" + std::to_string(kind), "--target", "billing", "--id", test::id_of(kind).to_string()});
  }
  const auto table = sluice_({"status"});
  EXPECT_THAT(table.out, AllOf(HasSubstr("1 × demo.kind0 → billing, oldest 0s"),
                               HasSubstr("and 2 more kinds of events that nobody subscribes to")));
}

class RetentionSweepCommand : public DeliveryCommands {
 protected:
  RetentionSweepCommand() {
    sluice_.store.publish(test::id_of(1));
    sluice_.store.deliver(test::id_of(1));
    sluice_.store.publish(test::id_of(2));
    sluice_.store.fail(test::id_of(2));
    sluice_.store.publish(test::id_of(3));
    sluice_.store.now += days{46};
  }
};

TEST_F(RetentionSweepCommand, SaysWhatItSwept) {
  const auto plan = sluice_({"retention", "sweep", "--dry-run", "-o", "json"});
  EXPECT_EQ(plan.exit, Exit::ok) << plan.err;
  EXPECT_EQ(plan.out,
            "{\"dry_run\":true,\"outbox_tombstoned\":2,\"outbox_deleted\":0,\"failed_swept\":1,\"handled_deleted\":0,"
            "\"more\":false,\"partitions\":[]}\n");
  EXPECT_THAT(sluice_.store.sql("select count(*) from outbox where deleted_at is not null"), ElementsAre("0"));
  const auto swept = sluice_({"retention", "sweep"});
  EXPECT_EQ(swept.exit, Exit::ok) << swept.err;
  EXPECT_EQ(swept.out,
            "  tombstoned          2\n"
            "  deleted             0\n"
            "  of them failed      1\n"
            "  dedup rows deleted  0\n");
  sluice_.store.now += days{30};
  EXPECT_THAT(sluice_({"retention", "run", "-o", "json"}).out,
              AllOf(HasSubstr(R"("outbox_deleted":2)"), HasSubstr(R"("handled_deleted":0)")));
  EXPECT_THAT(sluice_({"retention", "run", "-o", "json"}).out, HasSubstr(R"("handled_deleted":1)"));
  EXPECT_EQ(sluice_.store.events().size(), 1U) << "what is pending is never touched";
}

TEST_F(RetentionSweepCommand, ABadPolicyIsRefusedByItsKey) {
  sluice_.environment["SLUICE_RETENTION_EVENT_HANDLED_ACTIVE"] = "52d";
  const auto answer = sluice_({"retention", "sweep"});
  EXPECT_EQ(answer.exit, Exit::usage);
  EXPECT_THAT(answer.err, AllOf(HasSubstr("event_handled.active (52d) must be longer than"),
                                HasSubstr("retention.event_handled.active")));
  EXPECT_TRUE(sluice_.opened.empty());
}

TEST_F(RetentionSweepCommand, CanBeInterruptedBetweenBatches) {
  sluice_.store.sql(
      "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000) "
      "insert into event_handled (handler_name, idempotency_key, handled_at) "
      "select 'billing.meter', 'k' || i, '2000-01-01T00:00:00.000000Z' from n");
  sluice_.interruptions = {true};
  const auto answer = sluice_({"retention", "sweep"});
  EXPECT_EQ(answer.exit, Exit::interrupted);
  EXPECT_THAT(answer.out, HasSubstr("dedup rows deleted  at least 1000"));
  EXPECT_THAT(answer.err, HasSubstr("run it again"));
}

}  // namespace
}  // namespace sluice::cli
