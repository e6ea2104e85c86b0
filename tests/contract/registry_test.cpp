#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::Registry;
using store::RegistryVersion;
using store::SubscriptionRecord;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class RegistryContract : public StoreContract {
 protected:
  void subscribe(const std::vector<Subscription>& subscriptions, Generation generation = 1) {
    must(store().subscribe(generation, subscriptions));
  }
  Registry registry(Generation generation = 1) { return must(store().registry(generation)); }
  RegistryVersion version() { return registry().version; }
};
SLUICE_OVER_EVERY_STORE(RegistryContract);

Subscription everything_about_orders() {
  Subscription made = subscription("billing.meter", {"order.paid", "order.refund*"});
  made.context = "billing";
  made.channel = "outbox_gen_1_slow";
  return made;
}

TEST_P(RegistryContract, ANewStoreHasNone) {
  EXPECT_THAT(registry().subscriptions, IsEmpty());
  EXPECT_THAT(must(store().subscriptions()), IsEmpty());
}

TEST_P(RegistryContract, ASubscriptionIsKeptWhole) {
  const Timestamp before = must(store().now());
  subscribe({subscription("worlds.indexer"), everything_about_orders()});
  const Registry known = registry();
  ASSERT_THAT(known.subscriptions, SizeIs(2));
  EXPECT_EQ(known.subscriptions[0].subscription, everything_about_orders());
  EXPECT_EQ(known.subscriptions[1].subscription, subscription("worlds.indexer"));
  EXPECT_EQ(known.subscriptions[0].generation, 1);
  EXPECT_GE(known.subscriptions[0].registered_at, before);
  EXPECT_EQ(must(second_store()->registry(1)).subscriptions.size(), 2U);
}

TEST_P(RegistryContract, TheVersionChangesOnlyWithASubscription) {
  const RegistryVersion empty = version();
  subscribe({everything_about_orders()});
  const RegistryVersion first = version();
  EXPECT_NE(first, empty);
  subscribe({everything_about_orders()});
  subscribe({});
  EXPECT_EQ(version(), first);
  subscribe({everything_about_orders(), subscription("worlds.indexer")});
  EXPECT_NE(version(), first);
}

TEST_P(RegistryContract, EveryPartMakesAnotherVersion) {
  Subscription changing = subscription("billing.meter");
  subscribe({changing});
  RegistryVersion last = version();
  const auto replaces = [&](const char* part) {
    subscribe({changing});
    EXPECT_NE(version(), last) << part;
    last = version();
    ASSERT_THAT(registry().subscriptions, SizeIs(1)) << part;
    EXPECT_EQ(registry().subscriptions[0].subscription, changing) << part;
  };
  changing.event_types = {"order.*"};
  replaces("event_types");
  changing.context = "billing";
  replaces("context");
  changing.channel = "outbox_gen_1";
  replaces("channel");
  changing.context = std::nullopt;
  replaces("no context");
  changing.channel = std::nullopt;
  replaces("no channel");
}

TEST_P(RegistryContract, EachGenerationHasItsOwn) {
  subscribe({subscription("worlds.indexer")}, 2);
  subscribe({subscription("worlds.indexer"), subscription("billing.meter")}, 1);
  EXPECT_THAT(registry(1).subscriptions, SizeIs(2));
  EXPECT_THAT(registry(2).subscriptions, SizeIs(1));
  const auto all = must(store().subscriptions());
  EXPECT_THAT(all, ElementsAre(Field(&SubscriptionRecord::generation, 1), Field(&SubscriptionRecord::generation, 1),
                               Field(&SubscriptionRecord::generation, 2)));
  EXPECT_EQ(all[0].subscription.handler_name, "billing.meter");
}

TEST_P(RegistryContract, UnsubscribingIsAudited) {
  subscribe({subscription("worlds.indexer"), subscription("billing.meter")});
  const RegistryVersion before = version();
  must(store().unsubscribe(1, "worlds.indexer", operator_alice()));
  EXPECT_NE(version(), before);
  ASSERT_THAT(registry().subscriptions, SizeIs(1));
  EXPECT_EQ(registry().subscriptions[0].subscription.handler_name, "billing.meter");
  const Rows audited = raw_sql("select actor, surface, reason, detail from {audit} where action = 'unsubscribe'");
  ASSERT_THAT(audited, SizeIs(1));
  EXPECT_EQ(audited[0][0], "alice@example.com");
  EXPECT_EQ(audited[0][1], "cli");
  EXPECT_EQ(audited[0][2], "the upstream is back");
  EXPECT_THAT(audited[0][3].value_or(""), HasSubstr("worlds.indexer"));
}

TEST_P(RegistryContract, WhoIsNotSubscribedIsNotFound) {
  subscribe({subscription("worlds.indexer")}, 2);
  const RegistryVersion before = version();
  const auto refused = store().unsubscribe(1, "worlds.indexer", operator_alice());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
  EXPECT_THAT(refused.error().message, HasSubstr("worlds.indexer"));
  EXPECT_EQ(version(), before);
  EXPECT_THAT(raw_sql("select 1 from {audit}"), IsEmpty());
}

TEST_P(RegistryContract, ASettleBasedOnTheCurrentVersionWorks) {
  subscribe({subscription("worlds.indexer")});
  const Uuid id = publish();
  const std::vector items{settle_item(claim_one(), Outcome::handled())};
  EXPECT_EQ(must(store().settle(items, version())).settled, 1);
  EXPECT_EQ(event(id).status, Status::delivered);
}

TEST_P(RegistryContract, AcknowledgementsAloneBasedOnAnOldVersionChangeNothing) {
  const RegistryVersion old = version();
  const Uuid id = publish();
  const std::vector items{settle_item(claim_one(), Outcome::handled())};
  must(second_store()->subscribe(1, std::vector{subscription("billing.meter")}));

  const auto refused = store().settle(items, old);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(store::is_registry_changed(refused.error())) << refused.error().message;
  EXPECT_EQ(event(id).status, Status::in_flight);
  EXPECT_EQ(must(store().settle(items, version())).settled, 1);
}

TEST_P(RegistryContract, ASettleBasedOnAnOldVersionChangesNothing) {
  const RegistryVersion old = version();
  const auto published = publish(events(2));
  std::vector<SettleItem> items;
  for (const ClaimedEvent& claimed : claim()) items.push_back(settle_item(claimed, Outcome::handled()));
  items[0].handled_by = {"worlds.indexer"};
  must(second_store()->subscribe(1, std::vector{subscription("billing.meter")}));

  const auto refused = store().settle(items, old);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(store::is_registry_changed(refused.error())) << refused.error().message;
  EXPECT_EQ(refused.error().retry, Retry::safe);
  for (const Uuid& id : published) EXPECT_EQ(event(id).status, Status::in_flight);
  EXPECT_THAT(must(store().handled(event(published[0]))), IsEmpty());

  EXPECT_EQ(must(store().settle(items, version())).settled, 2);
  EXPECT_THAT(must(store().handled(event(published[0]))), SizeIs(1));
}

TEST_P(RegistryContract, TheLastToDeclareASubscriptionIsWhoseItIs) {
  const std::vector one{subscription("billing.meter")};
  must(store().subscribe(1, one, "serve:a:/etc/a.toml"));
  const RegistryVersion first = version();
  EXPECT_EQ(registry().subscriptions.at(0).declared_by, "serve:a:/etc/a.toml");
  must(store().subscribe(1, one));
  EXPECT_EQ(registry().subscriptions.at(0).declared_by, "serve:a:/etc/a.toml") << "without a name none is taken over";
  must(store().subscribe(1, one, "listener:b"));
  EXPECT_EQ(must(store().subscriptions()).at(0).declared_by, "listener:b");
  EXPECT_EQ(version(), first) << "who wants what has not changed";
}

TEST_P(RegistryContract, ASubscriptionKnowsWhenItWasLastServed) {
  subscribe({subscription("billing.meter"), subscription("worlds.indexer")});
  subscribe({subscription("billing.meter")}, 2);
  age(2h);
  must(store().announce({"p:1", 1, {"billing.meter"}, "listening", {}, {}}));
  const Timestamp now = must(store().now());
  for (const SubscriptionRecord& one : must(store().subscriptions())) {
    const bool served = one.generation == 1 && one.subscription.handler_name == "billing.meter";
    EXPECT_EQ(now - one.served_at < 1h, served) << one.generation << ' ' << one.subscription.handler_name;
  }
}

}  // namespace
}  // namespace sluice::contract
