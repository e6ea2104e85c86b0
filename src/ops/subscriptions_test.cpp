#include "ops/subscriptions.hpp"

#include <gtest/gtest.h>

#include "store/store.hpp"
#include "tests/support/embedded_store.hpp"

namespace sluice::ops {
namespace {

store::WorkerRecord a_worker(const std::string& identity) {
  return {.identity = identity, .generation = 2, .handlers = {"billing.meter"}, .listener = "listening"};
}

TEST(Workers, OneThatIsSilentIsListedButNotAlive) {
  test::EmbeddedStore store;
  store.announce(a_worker("w1"));
  store.now += kAliveWithin;
  store.announce(a_worker("w2"));
  const auto seen = list_workers(*store);
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->workers.size(), 2U);
  EXPECT_FALSE(is_alive(seen->workers[0], seen->now));
  EXPECT_TRUE(is_alive(seen->workers[1], seen->now));
  store.now += std::chrono::hours{24};
  EXPECT_TRUE(list_workers(*store)->workers.empty());
}

TEST(Workers, OnlyListeningIsListening) {
  store::WorkerRecord worker = a_worker("w1");
  EXPECT_TRUE(is_listening(worker));
  worker.listener = "polling";
  EXPECT_FALSE(is_listening(worker));
}

TEST(Workers, TheJsonFieldsArePinned) {
  EXPECT_EQ(to_json(a_worker("w1"), Timestamp{} + kAliveWithin),
            R"({"identity":"w1","generation":2,"handlers":["billing.meter"],"listener":"listening",)"
            R"("started_at":"1970-01-01T00:00:00.000000Z","seen_at":"1970-01-01T00:00:00.000000Z","alive":false})");
}

class Subscriptions : public testing::Test {
 protected:
  void subscribe(const std::vector<Subscription>& all, Generation generation = 1) { store_.subscribe(generation, all); }
  UnsubscribePlan plan(const std::string& handler, int look = kUnsubscribeLook) {
    return test::must(plan_unsubscribe(*store_, 1, handler, look));
  }
  /// One handler has failed once, and the event waits for it alone.
  void wait_for(const Uuid& id, const std::string& handler) {
    const auto claimed = store_.claim(id);
    store::SettleItem item;
    item.claim = claimed.claim;
    item.settlement = settle(0, Outcome::failed({std::string{error_class::timeout}, "slow", {}, false}),
                             RetryPolicy::standard(), 0.0);
    item.settlement.progress = {{.handler_name = handler, .attempts = 1}};
    test::must(store_.whole().settle(std::span{&item, 1}));
  }
  test::EmbeddedStore store_;
};

TEST_F(Subscriptions, AreListedWithTheLiveWorkersThatHostThem) {
  subscribe({{.handler_name = "billing.meter"}, {.handler_name = "worlds.indexer"}});
  subscribe({{.handler_name = "billing.meter"}}, 2);
  store_.announce({.identity = "w1", .generation = 1, .handlers = {"billing.meter"}, .listener = ""});
  const auto all = list_subscriptions(*store_);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3U);
  EXPECT_EQ(all->at(0).workers, 1);
  EXPECT_EQ(all->at(1).workers, 0);
  EXPECT_EQ(all->at(2).workers, 0) << "another generation";
}

TEST_F(Subscriptions, APlanCountsWhatWaitsAndWhatNobodyElseWants) {
  subscribe({{.handler_name = "billing.meter", .event_types = {"demo.hello"}},
             {.handler_name = "worlds.indexer", .event_types = {"demo.*"}},
             {.handler_name = "worlds.other", .event_types = {"other.thing"}}});
  store_.publish(test::id_of(1));
  store_.publish(test::id_of(2));
  store_.publish(test::id_of(3), 2);
  EXPECT_EQ(plan("billing.meter").waiting, 2);
  EXPECT_EQ(plan("billing.meter").orphaned, 0);
  EXPECT_EQ(plan("worlds.other").waiting, 0);
  test::must(store_->unsubscribe(1, "worlds.indexer", {"alice", "cli", "gone"}));
  EXPECT_EQ(plan("billing.meter").orphaned, 2);
}

TEST_F(Subscriptions, AnEventThatWasTriedWaitsForWhatIsLeft) {
  subscribe({{.handler_name = "billing.meter"}, {.handler_name = "worlds.indexer"}});
  store_.publish(test::id_of(1));
  wait_for(test::id_of(1), "worlds.indexer");
  EXPECT_EQ(plan("billing.meter").waiting, 0);
  EXPECT_EQ(plan("worlds.indexer").waiting, 1);
}

TEST_F(Subscriptions, APlanLooksAtABoundedNumberOfEvents) {
  subscribe({{.handler_name = "billing.meter"}});
  for (int number = 1; number <= 5; ++number) store_.publish(test::id_of(number));
  EXPECT_EQ(plan("billing.meter", 3).waiting, 3);
  EXPECT_FALSE(plan("billing.meter", 3).complete);
  EXPECT_EQ(plan("billing.meter", 5).waiting, 5);
  EXPECT_TRUE(plan("billing.meter", 5).complete);
}

TEST_F(Subscriptions, WithoutASubscriptionThereIsNoPlan) {
  subscribe({{.handler_name = "billing.meter"}}, 2);
  EXPECT_EQ(plan_unsubscribe(*store_, 1, "billing.meter").error().code, ErrorCode::not_found);
}

TEST_F(Subscriptions, TheJsonFieldsArePinned) {
  SubscriptionStatus status;
  status.record.subscription.handler_name = "billing.meter";
  status.record.declared_by = "serve:web1:/etc/sluice.toml";
  const std::string text =
      R"({"generation":1,"handler_name":"billing.meter","event_types":["*"],"context":null,"channel":null,)"
      R"("registered_at":"1970-01-01T00:00:00.000000Z","declared_by":"serve:web1:/etc/sluice.toml",)"
      R"("served_at":"1970-01-01T00:00:00.000000Z","workers":0})";
  EXPECT_EQ(to_json(status), text);
  EXPECT_EQ(to_json(UnsubscribePlan{status, 2, 1, true}, true),
            R"({"dry_run":true,"subscription":)" + text + R"(,"waiting":2,"orphaned":1,"complete":true})");
}

}  // namespace
}  // namespace sluice::ops
