#include <map>

#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class OrderingContract : public StoreContract {
 protected:
  Uuid publish_typed(const std::string& type, Generation generation = 1) {
    NewEvent event = an_event(type);
    event.ordering_key = "a";
    event.generation = generation;
    return publish(event);
  }
  void subscribe(const std::string& handler, const std::string& type, Generation generation = 1) {
    must(store().subscribe(generation, std::vector{subscription(handler, {type})}));
  }
  void subscribe_to_everything() {
    for (const Generation generation : {1, 2}) subscribe("tests.all", "*", generation);
  }
  /// As a worker that hosts a handler of this type.
  std::vector<ClaimedEvent> claim_typed(const std::string& type, Generation generation = 1) {
    ClaimRequest request = request_for("w1");
    request.generation = generation;
    request.interests = {{type, {}, {}}};
    return claim(request);
  }
};
SLUICE_OVER_EVERY_STORE(OrderingContract);

TEST_P(OrderingContract, OneEventOfAKeyAtATime) {
  const Uuid first = publish(a_keyed_event("a"));
  publish(a_keyed_event("a"));
  EXPECT_THAT(ids(claim()), ElementsAre(first));
  EXPECT_THAT(claim(), IsEmpty());
}

TEST_P(OrderingContract, TheSuccessorFollowsTheDelivery) {
  publish(a_keyed_event("a"));
  const Uuid second = publish(a_keyed_event("a"));
  deliver(claim_one());
  EXPECT_THAT(ids(claim()), ElementsAre(second));
}

TEST_P(OrderingContract, ATokenFromTheFutureReleasesNoKey) {
  const Uuid head = publish(a_keyed_event("a"));
  publish(a_keyed_event("a"));
  ClaimedEvent claimed = claim_one();
  ++claimed.claim.claim_seq;
  EXPECT_THAT(deliver(claimed).fenced, ElementsAre(head));
  EXPECT_EQ(event(head).status, Status::in_flight);
  EXPECT_THAT(claim(), IsEmpty());
}

TEST_P(OrderingContract, AKeyDoesNotHoldUpOthers) {
  const Uuid head = publish(a_keyed_event("a"));
  publish(a_keyed_event("a"));
  const Uuid other = publish(a_keyed_event("b"));
  const Uuid free = publish();
  EXPECT_THAT(ids(claim()), UnorderedElementsAre(head, other, free));
}

TEST_P(OrderingContract, ARetryingHeadBlocksItsKeyOnly) {
  subscribe_to_everything();
  const Uuid head = publish(a_keyed_event("a"));
  const Uuid second = publish(a_keyed_event("a"));
  settle(claim_one(), Outcome::failed(timeout_failure()), minute_retries());
  const Uuid other = publish(a_keyed_event("b"));
  EXPECT_THAT(ids(claim()), ElementsAre(other));
  age(61s);
  const ClaimedEvent again = claim_one();
  EXPECT_EQ(again.envelope.event_id(), head);
  deliver(again);
  EXPECT_THAT(ids(claim()), ElementsAre(second));
}

TEST_P(OrderingContract, ADelayedHeadBlocksItsKey) {
  subscribe_to_everything();
  NewEvent head = a_keyed_event("a");
  head.delay = 1h;
  publish(head);
  publish(a_keyed_event("a"));
  EXPECT_THAT(claim(), IsEmpty());
  age(2h);
  EXPECT_THAT(ids(claim()), ElementsAre(head.envelope.event_id()));
}

TEST_P(OrderingContract, AFailedHeadDoesNotBlock) {
  publish(a_keyed_event("a"));
  const Uuid second = publish(a_keyed_event("a"));
  settle(claim_one(), Outcome::failed(terminal_failure()));
  EXPECT_THAT(ids(claim()), ElementsAre(second));
}

TEST_P(OrderingContract, AReleasedHeadGoesFirstAgain) {
  const Uuid head = publish(a_keyed_event("a"));
  publish(a_keyed_event("a"));
  settle(claim_one(), Outcome::released());
  EXPECT_THAT(ids(claim()), ElementsAre(head));
}

TEST_P(OrderingContract, AReplayedHeadWaitsForWhatIsInFlight) {
  subscribe_to_everything();
  const Uuid head = publish(a_keyed_event("a"));
  const Uuid second = publish(a_keyed_event("a"));
  settle(claim_one(), Outcome::failed(terminal_failure()));
  const ClaimedEvent running = claim_one();
  EXPECT_EQ(running.envelope.event_id(), second);
  must(store().replay(head, 1, operator_alice()));
  EXPECT_THAT(claim(), IsEmpty());
  deliver(running);
  EXPECT_THAT(ids(claim()), ElementsAre(head));
}

TEST_P(OrderingContract, AReplayedHeadGoesBeforeWhatStillWaits) {
  subscribe_to_everything();
  const Uuid head = publish(a_keyed_event("a"));
  const Uuid second = publish(a_keyed_event("a"));
  settle(claim_one(), Outcome::failed(terminal_failure()));
  must(store().replay(head, 1, operator_alice()));
  const ClaimedEvent first = claim_one();
  EXPECT_EQ(first.envelope.event_id(), head);
  deliver(first);
  EXPECT_THAT(ids(claim()), ElementsAre(second));
}

TEST_P(OrderingContract, AKeyIsStrictAcrossGenerations) {
  subscribe_to_everything();
  publish(a_keyed_event("a"));
  NewEvent next = a_keyed_event("a");
  next.generation = 2;
  publish(next);
  ClaimRequest newer = request_for("w2");
  newer.generation = 2;
  EXPECT_THAT(claim(newer), IsEmpty());
  deliver(claim_one());
  EXPECT_THAT(ids(claim(newer)), ElementsAre(next.envelope.event_id()));
}

TEST_P(OrderingContract, LongChainsRunInOrder) {
  subscribe_to_everything();
  std::map<std::string, std::vector<Uuid>> expected;
  std::vector<NewEvent> batch;
  for (int n = 0; n < 20; ++n) {
    for (const std::string key : {"a", "b", "c"}) {
      batch.push_back(a_keyed_event(key));
      expected[key].push_back(batch.back().envelope.event_id());
    }
  }
  publish(batch);
  std::map<std::string, std::vector<Uuid>> seen;
  for (int round = 0; round < 20; ++round) {
    const auto claimed = claim();
    ASSERT_EQ(claimed.size(), 3U) << "round " << round;
    for (const ClaimedEvent& event : claimed) {
      seen[*event.ordering_key].push_back(event.envelope.event_id());
      deliver(event);
    }
  }
  EXPECT_EQ(seen, expected);
}

TEST_P(OrderingContract, FlakyHandlersKeepTheOrder) {
  subscribe_to_everything();
  std::vector<Uuid> expected;
  for (int n = 0; n < 20; ++n) expected.push_back(publish(a_keyed_event("a")));
  std::vector<Uuid> delivered;
  for (int attempt = 0; delivered.size() < expected.size() && attempt < 100; ++attempt) {
    const ClaimedEvent claimed = claim_one();
    if (attempt % 3 == 0) {
      settle(claimed, Outcome::failed(timeout_failure()), minute_retries());
      age(61s);
    } else {
      deliver(claimed);
      delivered.push_back(claimed.envelope.event_id());
    }
  }
  EXPECT_EQ(delivered, expected);
}

TEST_P(OrderingContract, AnEventThatNobodyWantsHoldsUpNobody) {
  subscribe("tests.wanted", "wanted");
  publish_typed("unwanted");
  const Uuid first = publish_typed("wanted");
  publish_typed("unwanted");
  const Uuid second = publish_typed("wanted");
  const auto running = claim_typed("wanted");
  ASSERT_THAT(ids(running), ElementsAre(first));
  EXPECT_THAT(claim(), IsEmpty()) << "two events of a key in flight";
  deliver(running.front());
  EXPECT_THAT(ids(claim_typed("wanted")), ElementsAre(second));
}

TEST_P(OrderingContract, AnEventOfAGenerationWithoutSubscribersHoldsUpNobody) {
  subscribe("tests.wanted", "wanted", 2);
  publish_typed("wanted", 1);
  const Uuid newer = publish_typed("wanted", 2);
  EXPECT_THAT(ids(claim_typed("wanted", 2)), ElementsAre(newer));
}

TEST_P(OrderingContract, TheLastSubscriberOfTheHeadReleasesItsKey) {
  subscribe("tests.head", "head");
  subscribe("tests.head_too", "he*");
  subscribe("tests.next", "next");
  publish_typed("head");
  const Uuid next = publish_typed("next");
  must(store().unsubscribe(1, "tests.head", operator_alice()));
  EXPECT_THAT(claim_typed("next"), IsEmpty());
  must(store().unsubscribe(1, "tests.head_too", operator_alice()));
  EXPECT_THAT(ids(claim_typed("next")), ElementsAre(next));
}

TEST_P(OrderingContract, ASubscriberThatWantsTheHeadNoMoreReleasesItsKey) {
  subscribe("tests.head", "head");
  subscribe("tests.next", "next");
  publish_typed("head");
  const Uuid next = publish_typed("next");
  for (int tries = 0; tries < 3; ++tries) ASSERT_THAT(claim_typed("next"), IsEmpty());
  subscribe("tests.head", "tail");
  EXPECT_THAT(ids(claim_typed("next")), ElementsAre(next));
}

TEST_P(OrderingContract, AHeadWhoseFirstSubscriberComesLateHoldsUpWhatIsPublishedFromThenOn) {
  subscribe("tests.next", "next");
  const Uuid head = publish_typed("head");
  publish_typed("next");
  const auto before = claim_typed("next");
  ASSERT_EQ(before.size(), 1U) << "nobody wants the head";
  deliver(before.front());
  for (int tries = 0; tries < 5; ++tries) ASSERT_THAT(claim_typed("next"), IsEmpty());
  subscribe("tests.head", "head");
  const Uuid next = publish_typed("next");
  EXPECT_THAT(claim_typed("next"), IsEmpty());
  const auto first = claim_typed("head");
  ASSERT_THAT(ids(first), ElementsAre(head));
  deliver(first.front());
  EXPECT_THAT(ids(claim_typed("next")), ElementsAre(next));
}

TEST_P(OrderingContract, ANewSubscriberOfTheHeadGoesFirst) {
  subscribe("tests.next", "next");
  const Uuid head = publish_typed("head");
  const Uuid next = publish_typed("next");
  subscribe("tests.head", "head");
  EXPECT_THAT(claim_typed("next"), IsEmpty());
  const auto first = claim_typed("head");
  ASSERT_THAT(ids(first), ElementsAre(head));
  deliver(first.front());
  EXPECT_THAT(ids(claim_typed("next")), ElementsAre(next));
}

TEST_P(OrderingContract, ANewSubscriberOfTheHeadWaitsForWhatIsInFlight) {
  subscribe("tests.next", "next");
  const Uuid head = publish_typed("head");
  publish_typed("next");
  const auto running = claim_typed("next");
  ASSERT_EQ(running.size(), 1U);
  subscribe("tests.head", "head");
  EXPECT_THAT(claim_typed("head"), IsEmpty());
  deliver(running.front());
  EXPECT_THAT(ids(claim_typed("head")), ElementsAre(head));
}

TEST_P(OrderingContract, AReplayedEventThatNobodyWantsAnyMoreHoldsUpNobody) {
  subscribe("tests.head", "head");
  subscribe("tests.next", "next");
  const Uuid head = publish_typed("head");
  const auto claimed = claim_typed("head");
  ASSERT_EQ(claimed.size(), 1U);
  settle(claimed.front(), Outcome::failed(terminal_failure()));
  must(store().unsubscribe(1, "tests.head", operator_alice()));
  must(store().replay(head, 1, operator_alice()));
  const Uuid next = publish_typed("next");
  EXPECT_THAT(ids(claim_typed("next")), ElementsAre(next));
}

TEST_P(OrderingContract, AReroutedHeadWaitsForItsNewSubscribers) {
  subscribe("tests.next", "next");
  subscribe("tests.head", "head", 2);
  publish_typed("head");
  const Uuid next = publish_typed("next");
  ASSERT_EQ(must(store().reroute(1, 2, 1, operator_alice())), 1);
  EXPECT_THAT(claim_typed("next"), IsEmpty()) << "its predecessor is wanted now";
  const auto head = claim_typed("head", 2);
  ASSERT_EQ(head.size(), 1U);
  deliver(head.front());
  EXPECT_THAT(ids(claim_typed("next")), ElementsAre(next));
}

TEST_P(OrderingContract, OddKeysAreJustText) {
  const std::string odd = "it's \"50 %\" \\ of {a} — ключ 🔑";
  const Uuid first = publish(a_keyed_event(odd));
  publish(a_keyed_event(odd));
  const ClaimedEvent claimed = claim_one();
  EXPECT_EQ(claimed.envelope.event_id(), first);
  EXPECT_EQ(claimed.ordering_key, odd);
}

}  // namespace
}  // namespace sluice::contract
