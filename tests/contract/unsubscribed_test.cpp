#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::UnsubscribedCount;
using testing::IsEmpty;
using testing::SizeIs;

class UnsubscribedContract : public StoreContract {
 protected:
  void subscribe(const std::vector<Subscription>& subscriptions, Generation generation = 1) {
    must(store().subscribe(generation, subscriptions));
  }
  std::vector<UnsubscribedCount> unsubscribed() { return must(store().unsubscribed()); }
};
SLUICE_OVER_EVERY_STORE(UnsubscribedContract);

NewEvent sent_to(const std::string& event_type, const std::string& target) {
  EnvelopeDraft draft = a_draft(event_type);
  draft.target = target;
  return an_event(draft);
}

TEST_P(UnsubscribedContract, AnEventThatNobodyWantsStaysPendingAndIsSeen) {
  const Uuid id = publish(an_event("order.created"));
  subscribe({subscription("billing.meter", {"order.paid"})});
  ClaimRequest request = request_for("w1");
  request.interests = subscription("billing.meter", {"order.paid"}).interests();
  EXPECT_THAT(claim(request), IsEmpty());
  EXPECT_EQ(event(id).status, Status::pending);
  const auto counts = unsubscribed();
  ASSERT_THAT(counts, SizeIs(1));
  EXPECT_EQ(counts[0].generation, 1);
  EXPECT_EQ(counts[0].event_type, "order.created");
  EXPECT_EQ(counts[0].target, std::nullopt);
  EXPECT_EQ(counts[0].count, 1);
  EXPECT_EQ(counts[0].oldest, event(id).envelope.occurred_at());
}

TEST_P(UnsubscribedContract, TheMostNumerousComeFirst) {
  publish({an_event("a.one"), an_event("b.two"), an_event("b.two"), sent_to("b.two", "worlds")});
  const auto counts = unsubscribed();
  ASSERT_THAT(counts, SizeIs(3));
  EXPECT_EQ(counts[0].event_type, "b.two");
  EXPECT_EQ(counts[0].count, 2);
  EXPECT_EQ(counts[0].target, std::nullopt);
}

TEST_P(UnsubscribedContract, EveryPartOfASubscriptionCounts) {
  publish({sent_to("order.created", "worlds"), sent_to("order.paid", "billing"), an_event("user.created")});
  Subscription context = subscription("worlds.indexer");
  context.context = "worlds";
  subscribe({context});
  // Broadcasts and what is sent to worlds are wanted.
  ASSERT_THAT(unsubscribed(), SizeIs(1));
  EXPECT_EQ(unsubscribed()[0].target, "billing");

  Subscription channel = subscription("billing.meter", {"order.*"});
  channel.channel = "outbox_gen_1_slow";
  subscribe({channel});
  EXPECT_THAT(unsubscribed(), SizeIs(1)) << "on another channel";
  subscribe({subscription("billing.meter", {"user.*", "order.*"})});
  EXPECT_THAT(unsubscribed(), IsEmpty());
}

TEST_P(UnsubscribedContract, AnUnderscoreInAPatternIsJustALetter) {
  publish(an_event("orderXline.created"));
  subscribe({subscription("billing.meter", {"order_line.created", "order_*"})});
  EXPECT_THAT(unsubscribed(), SizeIs(1));
}

TEST_P(UnsubscribedContract, EachGenerationHasItsOwnSubscribers) {
  NewEvent next = an_event();
  next.generation = 2;
  publish({an_event(), next});
  subscribe({subscription("log.sink")}, 1);
  ASSERT_THAT(unsubscribed(), SizeIs(1));
  EXPECT_EQ(unsubscribed()[0].generation, 2);
}

TEST_P(UnsubscribedContract, OnlyWhatIsPendingCounts) {
  failed_event();
  delivered_event();
  publish();
  claim();
  EXPECT_THAT(unsubscribed(), IsEmpty());
}

TEST_P(UnsubscribedContract, ItIsSeenAgainAndAgainUntilSomebodyWantsIt) {
  publish(an_event("order.created"));
  ClaimRequest paid = request_for("w1");
  paid.interests = subscription("billing.meter", {"order.paid"}).interests();
  for (int round = 0; round < 3; ++round) {
    publish(an_event("order.paid"));
    deliver(claim(paid).front());
    ASSERT_THAT(unsubscribed(), SizeIs(1)) << round;
    EXPECT_EQ(unsubscribed()[0].count, 1) << round;
  }
  subscribe({subscription("billing.meter", {"order.created"})});
  EXPECT_THAT(unsubscribed(), IsEmpty());
}

TEST_P(UnsubscribedContract, WhatWaitsForItsTimeCountsToo) {
  NewEvent later = an_event();
  later.delay = 1h;
  publish(later);
  EXPECT_THAT(unsubscribed(), SizeIs(1));
}

}  // namespace
}  // namespace sluice::contract
