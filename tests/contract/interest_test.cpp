#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

class InterestContract : public StoreContract {
 protected:
  std::vector<ClaimedEvent> claim_for(const std::vector<Interest>& interests, int limit = 100) {
    ClaimRequest request = request_for("w1", limit);
    request.interests = interests;
    return claim(request);
  }
};
SLUICE_OVER_EVERY_STORE(InterestContract);

NewEvent routed(const std::string& event_type, const std::optional<std::string>& target = {},
                const std::string& channel = "outbox_gen_1") {
  EnvelopeDraft draft = a_draft(event_type);
  draft.target = target;
  NewEvent event = an_event(draft);
  event.channel = channel;
  return event;
}

bool wanted(const NewEvent& event, const std::vector<Interest>& interests) {
  Route route{event.envelope.event_type(), {}, event.channel};
  if (event.envelope.target()) route.target = *event.envelope.target();
  return std::any_of(interests.begin(), interests.end(),
                     [&](const Interest& interest) { return interest.matches(route); });
}

TEST_P(InterestContract, AClaimTakesExactlyWhatCoreSaysThatMatches) {
  std::vector<NewEvent> all;
  for (const char* event_type :
       {"order.created", "order.created.v2", "order.paid", "order_line.created", "Order.created"}) {
    for (const std::optional<std::string>& target : {std::optional<std::string>{}, {"billing"}, {"billing_eu"}}) {
      for (const char* channel : {"outbox_gen_1", "outbox_gen_1_slow"})
        all.push_back(routed(event_type, target, channel));
    }
  }
  publish(all);
  const std::vector<std::vector<Interest>> questions{
      {{"*", {}, {}}},
      {{"order.created", {}, {}}},
      {{"order.*", {}, {}}},
      {{"order*", {}, {}}},
      {{"order_line.created", {}, {}}},
      {{"*", "billing", {}}},
      {{"*", {}, "outbox_gen_1_slow"}},
      {{"order.*", "billing", "outbox_gen_1"}},
      {{"order.paid", "billing_eu", {}}, {"order_line.*", {}, "outbox_gen_1_slow"}},
      {{"order.paid", {}, {}}, {"order.*", {}, {}}},
      {{"order.lost", {}, {}}},
      {{"*", "worlds", "outbox_gen_2"}},
  };
  for (std::size_t asked = 0; asked < questions.size(); ++asked) {
    std::vector<Uuid> expected;
    for (const NewEvent& event : all) {
      if (wanted(event, questions[asked])) expected.push_back(event.envelope.event_id());
    }
    const auto claimed = claim_for(questions[asked]);
    EXPECT_THAT(ids(claimed), UnorderedElementsAreArray(expected)) << "question " << asked;
    for (const ClaimedEvent& event : claimed) settle(event, Outcome::released());
  }
}

TEST_P(InterestContract, FreshEventsAreMatchedLikeReleasedOnes) {
  const auto published = publish({routed("order.created"), routed("order.paid"), routed("user.created")});
  EXPECT_THAT(ids(claim_for({{"order.paid", {}, {}}})), ElementsAre(published[1]));
  EXPECT_THAT(ids(claim_for({{"user.*", {}, {}}})), ElementsAre(published[2]));
  EXPECT_THAT(ids(claim_for({{"user.*", {}, {}}})), IsEmpty());
}

TEST_P(InterestContract, ContextsTakeTheirOwnAndBroadcasts) {
  const auto published = publish({routed("a.b", "worlds"), routed("a.b", "billing"), routed("a.b")});
  EXPECT_THAT(ids(claim_for({{"*", "worlds", {}}, {"*", "memory", {}}})), ElementsAre(published[0], published[2]));
  EXPECT_EQ(event(published[1]).status, Status::pending);
  EXPECT_THAT(ids(claim()), ElementsAre(published[1]));
}

TEST_P(InterestContract, WildcardsOfTheDatabaseAreJustLetters) {
  publish({routed("orderXline.created"), routed("order-line.created")});
  EXPECT_THAT(claim_for({{"order_line.created", {}, {}}}), IsEmpty());
  EXPECT_THAT(claim_for({{"order_*", {}, {}}}), IsEmpty());
  EXPECT_THAT(claim_for({{"order%", {}, {}}}), IsEmpty());
  EXPECT_THAT(claim_for({{"order?line.created", {}, {}}}), IsEmpty());
  EXPECT_THAT(claim_for({{"order[X]line.created", {}, {}}}), IsEmpty());
}

TEST_P(InterestContract, EventsOfOthersDoNotUseUpTheLimit) {
  std::vector<NewEvent> batch;
  for (int n = 0; n < 20; ++n) batch.push_back(routed("a.b", "billing"));
  batch.push_back(routed("a.b", "worlds"));
  publish(batch);
  EXPECT_THAT(ids(claim_for({{"*", "worlds", {}}}, 5)), ElementsAre(batch.back().envelope.event_id()));
}

TEST_P(InterestContract, WhatOneGroupPassesOverIsThereForAnother) {
  const auto published = publish({routed("a.first"), routed("a.second"), routed("a.third")});
  EXPECT_THAT(ids(claim_for({{"a.third", {}, {}}})), ElementsAre(published[2]));
  EXPECT_THAT(ids(claim_for({{"a.first", {}, {}}, {"a.second", {}, {}}})), ElementsAre(published[0], published[1]));
}

TEST_P(InterestContract, TheOrderOfAKeyHoldsAcrossInterests) {
  must(store().subscribe(1, std::vector{subscription("tests.all", {"a.*"})}));
  NewEvent first = routed("a.first");
  first.ordering_key = "k";
  NewEvent second = routed("a.second");
  second.ordering_key = "k";
  const auto published = publish({first, second});
  EXPECT_THAT(claim_for({{"a.second", {}, {}}}), IsEmpty()) << "its predecessor has not been delivered";
  deliver(claim_for({{"a.first", {}, {}}}).at(0));
  EXPECT_THAT(ids(claim_for({{"a.second", {}, {}}})), ElementsAre(published[1]));
}

}  // namespace
}  // namespace sluice::contract
