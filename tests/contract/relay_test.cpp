// Deliveries through a broker: what its consumers report, and the switch that says who delivers.
#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::ConsumerReport;
using store::RelayState;
using store::Reported;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

HandlerProgress progress_of(const std::string& handler, int attempts, bool out_of_attempts) {
  HandlerProgress progress;
  progress.handler_name = handler;
  progress.attempts = attempts;
  progress.out_of_attempts = out_of_attempts;
  progress.last_error = "TimeoutError: " + handler + " had no answer";
  progress.error_class = "TimeoutError";
  progress.fingerprint = "f-" + handler;
  return progress;
}

class RelayContract : public StoreContract {
 protected:
  ClaimedEvent claimed_by_a_relay(const NewEvent& event = an_event()) {
    publish(event);
    return claim(request_for("host:1:x/relay:nats/0")).at(0);
  }
  Uuid relayed_event(const NewEvent& event = an_event()) {
    const ClaimedEvent claimed = claimed_by_a_relay(event);
    deliver(claimed);
    return claimed.claim.event_id;
  }
  Reported report(const ConsumerReport& one) { return must(store().report(std::span{&one, 1})).at(0); }
  Reported give_up(const Uuid& id, const std::string& handler, std::int64_t replay = 0, int attempts = 5) {
    return report({id, replay, "k", false, progress_of(handler, attempts, true)});
  }
  std::vector<HandlerProgress> progress(const Uuid& id) {
    const auto found = must(store().relayed(std::span{&id, 1}));
    return found.empty() ? std::vector<HandlerProgress>{} : found.front().progress;
  }
};
SLUICE_OVER_EVERY_STORE(RelayContract);

TEST_P(RelayContract, AConsumerThatIsOutOfAttemptsMakesADeadLetter) {
  const Uuid id = relayed_event();
  EXPECT_EQ(give_up(id, "billing.mailer"), Reported::done);
  const EventRecord dead = event(id);
  EXPECT_EQ(dead.status, Status::failed);
  EXPECT_EQ(dead.attempts, 5);
  EXPECT_EQ(dead.last_error, "TimeoutError: billing.mailer had no answer");
  EXPECT_TRUE(dead.first_failed_at.has_value());
  const auto groups = must(store().failure_groups({}));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups.front().fingerprint, "f-billing.mailer");
  EXPECT_EQ(must(store().list_dead({}, 10, std::nullopt)).events.size(), 1U);
}

TEST_P(RelayContract, ASecondHandlersReportIsAdded) {
  const Uuid id = relayed_event();
  give_up(id, "billing.mailer");
  EXPECT_EQ(give_up(id, "search.indexer", 0, 7), Reported::done);
  const EventRecord dead = event(id);
  EXPECT_EQ(dead.last_error, "TimeoutError: billing.mailer had no answer") << "the first failure stays on the row";
  EXPECT_EQ(dead.attempts, 7);
  const auto both = progress(id);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].handler_name, "billing.mailer");
  EXPECT_EQ(both[1].handler_name, "search.indexer");
  EXPECT_TRUE(both[1].out_of_attempts);
}

TEST_P(RelayContract, AttemptsAreKeptAndTheEventStaysDelivered) {
  const Uuid id = relayed_event();
  HandlerProgress tried = progress_of("billing.mailer", 1, false);
  tried.deliveries = 2;
  EXPECT_EQ(report({id, 0, "k", false, tried}), Reported::done);
  tried.attempts = 2;
  tried.deliveries = 3;
  EXPECT_EQ(report({id, 0, "k", false, tried}), Reported::done);
  EXPECT_EQ(event(id).status, Status::delivered);
  const auto kept = progress(id);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].attempts, 2);
  EXPECT_EQ(kept[0].deliveries, 3);
  EXPECT_THAT(must(store().failure_groups({})), IsEmpty());
}

TEST_P(RelayContract, AReportOfAnEarlierReplayChangesNothing) {
  const Uuid id = relayed_event();
  give_up(id, "billing.mailer");
  must(store().replay(id, 1, operator_alice()));
  EXPECT_EQ(give_up(id, "search.indexer"), Reported::stale);
  EXPECT_EQ(event(id).status, Status::pending);
  EXPECT_THAT(progress(id), IsEmpty());
  deliver(claim(request_for("host:1:x/relay:nats/0")).at(0));
  EXPECT_EQ(give_up(id, "search.indexer"), Reported::stale) << "of the message before the replay";
  EXPECT_EQ(event(id).status, Status::delivered);
  EXPECT_EQ(must(store().relayed(std::span{&id, 1})).at(0).replay, 1);
  EXPECT_EQ(give_up(id, "search.indexer", 1), Reported::done);
  EXPECT_EQ(event(id).status, Status::failed);
  EXPECT_THAT(event(id).failure_history, HasSubstr("billing.mailer"));
}

TEST_P(RelayContract, AReportThatOvertakesTheRelaysSettleIsEarly) {
  const ClaimedEvent claimed = claimed_by_a_relay();
  EXPECT_EQ(give_up(claimed.claim.event_id, "billing.mailer"), Reported::early);
  EXPECT_EQ(event(claimed.claim.event_id).status, Status::in_flight);
  deliver(claimed);
  EXPECT_EQ(give_up(claimed.claim.event_id, "billing.mailer"), Reported::done);
}

TEST_P(RelayContract, AnEventThatIsGoneOrWasNeverRelayedIsStale) {
  EXPECT_EQ(give_up(new_id(), "billing.mailer"), Reported::stale);
  const Uuid id = delivered_event();
  EXPECT_EQ(give_up(id, "billing.mailer"), Reported::stale);
  EXPECT_EQ(event(id).status, Status::delivered);
  const Uuid dead = failed_event();
  EXPECT_EQ(give_up(dead, "billing.mailer"), Reported::stale);
  EXPECT_NE(event(dead).last_error, "TimeoutError: billing.mailer had no answer");
}

TEST_P(RelayContract, OnlyARelayedEventCanFailAfterItWasDelivered) {
  const std::string set = "update {outbox} set status = 'failed' where id = '";
  const auto refused = harness().raw_sql(set + delivered_event().to_string() + "'");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("delivered"));
  EXPECT_TRUE(harness().raw_sql(set + relayed_event().to_string() + "'"));
}

TEST_P(RelayContract, ReportsOfOneCallAreAnsweredInOrder) {
  const Uuid a = relayed_event();
  const Uuid b = relayed_event();
  const std::vector<ConsumerReport> reports{{a, 0, "key-a", true, progress_of("billing.mailer", 0, false)},
                                            {new_id(), 0, "key-x", false, progress_of("billing.mailer", 1, true)},
                                            {b, 0, "key-b", false, progress_of("billing.mailer", 5, true)},
                                            {b, 0, "key-b", false, progress_of("search.indexer", 5, true)}};
  EXPECT_THAT(must(store().report(reports)),
              ElementsAre(Reported::done, Reported::stale, Reported::done, Reported::done));
  EXPECT_EQ(event(a).status, Status::delivered);
  EXPECT_EQ(progress(b).size(), 2U);
  const std::vector<store::HandledKey> asked{{"billing.mailer", "key-a"}, {"billing.mailer", "key-b"}};
  EXPECT_THAT(must(store().already_handled(asked)), ElementsAre(asked[0]));
}

TEST_P(RelayContract, AnEffectWithoutAClaimIsEnteredOnce) {
  const Uuid id = relayed_event();
  const std::vector<store::EffectTransaction::Entry> entries{{{id}, "key-1"}, {{id}, "key-1"}, {{id}, "key-2"}};
  using Entered = store::EffectTransaction::Entered;
  auto undone = must(store().begin_effect(1min));
  must(undone->enter("billing.mailer", entries));
  undone.reset();
  auto effect = must(store().begin_effect(1min));
  EXPECT_THAT(must(effect->enter("billing.mailer", entries)),
              ElementsAre(Entered::fresh, Entered::handled, Entered::fresh));
  must(effect->commit());
  effect.reset();
  auto again = must(store().begin_effect(1min));
  EXPECT_THAT(must(again->enter("billing.mailer", entries)),
              ElementsAre(Entered::handled, Entered::handled, Entered::handled));
}

TEST_P(RelayContract, TheSwitchIsAuditedAndSeenByTheVersion) {
  EXPECT_EQ(must(store().relay()).state, RelayState::off);
  const auto before = must(store().registry(1));
  EXPECT_TRUE(before.relay.claims_here());
  const auto on = must(store().switch_relay(RelayState::on, "nats", operator_alice()));
  EXPECT_EQ(on.state, RelayState::on);
  EXPECT_EQ(on.broker, "nats");
  EXPECT_EQ(on.changed_by, operator_alice().name);
  EXPECT_EQ(on.reason, operator_alice().reason);
  const auto after = must(second_store()->registry(1));
  EXPECT_NE(after.version, before.version);
  EXPECT_FALSE(after.relay.claims_here());
  must(store().switch_relay(RelayState::on, "nats", {"bob", "cli", "again"}));
  EXPECT_EQ(must(store().relay()).changed_by, operator_alice().name) << "what changes nothing is not audited";
  EXPECT_EQ(must(store().registry(1)).version, after.version);
  must(store().switch_relay(RelayState::draining, "nats", operator_alice()));
  EXPECT_EQ(must(store().relay()).state, RelayState::draining);
  must(store().switch_relay(RelayState::off, "", operator_alice()));
  EXPECT_EQ(must(store().relay()).broker, "");
  EXPECT_EQ(must(store().audit({.action = "relay.*"}, 10, std::nullopt)).size(), 3U);
  EXPECT_FALSE(store().switch_relay(RelayState::on, "kafka", operator_alice()));
  EXPECT_FALSE(store().switch_relay(RelayState::on, "nats", {"bob", "cli", ""}));
}

TEST_P(RelayContract, ASettleByTheOldVersionIsRefusedWhenTheSwitchWasTurned) {
  publish();
  const ClaimedEvent claimed = claim_one();
  const auto version = must(store().registry(1)).version;
  must(store().switch_relay(RelayState::on, "nats", operator_alice()));
  const SettleItem item = settle_item(claimed, Outcome::handled());
  const auto refused = store().settle(std::span{&item, 1}, version);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(store::is_registry_changed(refused.error()));
}

// A process that has not seen the switch yet would handle an event whose predecessor of the same key is still in the
// broker.
TEST_P(RelayContract, WhileABrokerCarriesTheDeliveriesOnlyARelayClaims) {
  if (store().capabilities().embedded) GTEST_SKIP() << "an embedded store is not relayed";
  publish();
  must(store().switch_relay(RelayState::on, "nats", operator_alice()));
  EXPECT_THAT(claim(request_for("listener/1")), IsEmpty());
  must(store().switch_relay(RelayState::draining, "nats", operator_alice()));
  EXPECT_THAT(claim(request_for("daemon/relay:1")), IsEmpty());
  EXPECT_THAT(claim(request_for("listener/1")), IsEmpty());
  must(store().switch_relay(RelayState::off, "", operator_alice()));
  age(2s);
  const auto claimed = claim(request_for("listener/1"));
  ASSERT_THAT(claimed, SizeIs(1));
  deliver(claimed.front());
  publish();
  must(store().switch_relay(RelayState::on, "nats", operator_alice()));
  EXPECT_THAT(claim(request_for("daemon/relay:1")), SizeIs(1));
}

}  // namespace
}  // namespace sluice::contract
