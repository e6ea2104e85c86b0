// Turning the switch through ops, with a real broker.
#include "ops/ladder.hpp"
#include "ops/relay.hpp"
#include "ops/subscriptions.hpp"
#include "tests/relay/relay_fixture.hpp"

namespace sluice::test {
namespace {

using store::RelayState;

class RelaySwitch : public RelayTest {
 protected:
  [[nodiscard]] ops::RelaySettings settings() const { return {.kind = kind_name(), .shards = 4, .ack_wait = 5s}; }
};
INSTANTIATE_TEST_SUITE_P(Brokers, RelaySwitch, testing::Values(Kind::nats, Kind::redis),
                         [](const auto& tested) { return tested.param == Kind::nats ? "nats" : "redis"; });

TEST_P(RelaySwitch, AHandlerWhoseProcessIsAwayKeepsItsMessagesAndTheWayBackWaitsForIt) {
  Journal journal;
  consuming("early", {journalling("search.indexer", journal)})->stop();
  const auto on = ops::relay_on(store(), *admin_, settings(), kOperator);
  ASSERT_TRUE(on) << on.error().message;
  EXPECT_EQ(on->relay.state, RelayState::on);
  EXPECT_TRUE(ops::report_ladder(store())->stage.relayed);
  auto relay = relaying();
  const Uuid id = publish_one(store());
  eventually([&] { return store().get_event(id)->status == Status::delivered; });
  const auto back = ops::relay_back(store(), *admin_, settings(), kOperator);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->relay.state, RelayState::draining);
  EXPECT_EQ(back->waiting, 1);
  const auto refused = ops::relay_off(store(), admin_.get(), false, kOperator);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("1 waiting"));

  auto late = consuming("late", {journalling("search.indexer", journal)});
  journal.await("search.indexer", id);
  eventually([&] { return ops::relay_off(store(), admin_.get(), false, kOperator).has_value(); });
  EXPECT_EQ(store().relay()->state, RelayState::off);
  journal.await("search.indexer", publish_one(store()));
}

TEST_P(RelaySwitch, TheWayBackDoesNotWaitForAHandlerThatWasRemoved) {
  Journal journal;
  consuming("early", {journalling("billing.mailer", journal), journalling("search.indexer", journal)})->stop();
  ASSERT_TRUE(ops::relay_on(store(), *admin_, settings(), kOperator));
  auto relay = relaying();
  auto staying = consuming("staying", {journalling("search.indexer", journal)});
  for (const std::string key : {"", "order 7", "order 8"}) {
    journal.await("search.indexer", publish_one(store(), numbered_event(1, key)));
  }
  ASSERT_TRUE(ops::relay_back(store(), *admin_, settings(), kOperator));
  eventually([&] {
    const auto view = ops::look_at_relay(store(), admin_.get());
    return view->waiting == 3 && view->unsettled == 0 && view->claimed == 0;
  });
  const auto refused = ops::relay_off(store(), admin_.get(), false, kOperator);
  ASSERT_FALSE(refused) << "billing.mailer still subscribes";
  EXPECT_THAT(refused.error().message, testing::HasSubstr("3 for billing.mailer (generation 1)"));

  ASSERT_TRUE(ops::unsubscribe(store(), 1, "billing.mailer", kOperator));
  const auto view = ops::look_at_relay(store(), admin_.get());
  EXPECT_TRUE(view->is_drained()) << view->waiting << " wait for a handler that was removed";
  EXPECT_EQ(ops::in_words(view->left_behind), "3 for billing.mailer (generation 1)");
  const auto off = ops::relay_off(store(), admin_.get(), false, kOperator);
  ASSERT_TRUE(off) << off.error().message;
  journal.await("search.indexer", publish_one(store()));
}

TEST_P(RelaySwitch, WhoWasSetAsideByASendToOneHandlerStaysSoBehindTheBroker) {
  Journal journal;
  auto direct = consuming("first", {journalling("search.indexer", journal)});
  const Uuid id = publish_one(store());
  journal.await("search.indexer", id);
  eventually([&] { return store().get_event(id)->status == Status::delivered; });
  direct->stop();
  const Subscription later{"billing.mailer", {"*"}, std::nullopt, std::nullopt};
  ASSERT_TRUE(store().subscribe(1, std::span{&later, 1}, "test"));
  const auto sent = store().send_to({id, "search.indexer", Status::delivered, 1}, kOperator);
  ASSERT_TRUE(sent) << sent.error().message;
  turn(RelayState::on);
  auto consumers =
      consuming("second", {journalling("search.indexer", journal), journalling("billing.mailer", journal)});
  auto relay = relaying();
  eventually([&] { return journal.times("search.indexer", id) == 2; });
  const Uuid last = publish_one(store());
  journal.await("billing.mailer", last);
  EXPECT_EQ(journal.times("billing.mailer", id), 0) << "the event was sent to another handler alone";
}

TEST_P(RelaySwitch, AnotherBrokerAndWorkersThatPullAreRefused) {
  const auto other = ops::check_relay(store(), "kafka", settings());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().field, "broker");
  EXPECT_EQ(ops::check_relay(store(), kind_name(), {}).error().field, "relay.url");
  const Subscription pulled{"billing.mailer", {"*"}, std::nullopt, std::nullopt};
  ASSERT_TRUE(store().subscribe(1, std::span{&pulled, 1}, "pull"));
  const auto refused = ops::relay_on(store(), *admin_, settings(), kOperator);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("billing.mailer"));
}

}  // namespace
}  // namespace sluice::test
