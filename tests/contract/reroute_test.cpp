#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

class RerouteContract : public StoreContract {
 protected:
  std::int64_t reroute(Generation from, Generation to, int limit = 100) {
    return must(store().reroute(from, to, limit, operator_alice()));
  }
  std::vector<ClaimedEvent> claim_in(Generation generation, int limit = 100) {
    ClaimRequest request = request_for("w1", limit);
    request.generation = generation;
    return claim(request);
  }
};
SLUICE_OVER_EVERY_STORE(RerouteContract);

NewEvent on_channel(const std::string& channel) {
  NewEvent event = an_event();
  event.channel = channel;
  return event;
}

TEST_P(RerouteContract, PendingEventsAreDueInTheOtherGeneration) {
  const auto published = publish(events(3));
  EXPECT_EQ(reroute(1, 2), 3);
  EXPECT_THAT(claim_in(1), IsEmpty());
  EXPECT_THAT(ids(claim_in(2)), UnorderedElementsAreArray(published));
  EXPECT_EQ(event(published[0]).generation, 2);
}

TEST_P(RerouteContract, WhatAClaimHasPassedIsClaimedInTheOtherGeneration) {
  const auto before = publish(events(2));
  NewEvent next = an_event();
  next.generation = 2;
  publish(next);
  EXPECT_THAT(claim_in(2), SizeIs(1)) << "a worker of the new generation has looked further already";
  EXPECT_EQ(reroute(1, 2), 2);
  EXPECT_THAT(ids(claim_in(2)), UnorderedElementsAreArray(before));
}

TEST_P(RerouteContract, OnlyPendingEventsMove) {
  const Uuid failed = failed_event();
  const Uuid delivered = delivered_event();
  const Uuid claimed = publish();
  claim_one();
  EXPECT_EQ(reroute(1, 2), 0);
  for (const Uuid& id : {failed, delivered, claimed}) EXPECT_EQ(event(id).generation, 1);
  EXPECT_THAT(raw_sql("select 1 from {audit}"), IsEmpty()) << "nothing was done";
}

TEST_P(RerouteContract, AtMostTheLimitOldestFirst) {
  const auto published = publish(events(5));
  EXPECT_EQ(reroute(1, 2, 2), 2);
  EXPECT_EQ(event(published[1]).generation, 2);
  EXPECT_EQ(event(published[2]).generation, 1);
  EXPECT_EQ(reroute(1, 2, 2), 2);
  EXPECT_EQ(reroute(1, 2, 2), 1);
  EXPECT_EQ(reroute(1, 2, 2), 0);
}

TEST_P(RerouteContract, TheChannelOfTheGenerationFollowsAndOthersStay) {
  const auto published = publish({on_channel("outbox_gen_1"), on_channel("outbox_gen_1_slow"),
                                  on_channel("outbox_gen_12"), on_channel("billing")});
  EXPECT_EQ(reroute(1, 20), 4);
  std::vector<std::string> channels;
  for (const Uuid& id : published) channels.push_back(event(id).channel);
  EXPECT_THAT(channels, ElementsAre("outbox_gen_20", "outbox_gen_20_slow", "outbox_gen_12", "billing"));
}

TEST_P(RerouteContract, ARetryKeepsItsAttemptsButNotItsHandlers) {
  const Uuid id = publish();
  HandlerProgress waiting;
  waiting.handler_name = "worlds.indexer";
  waiting.due = must(store().now());
  SettleItem item = settle_item(claim_one(), Outcome::failed(timeout_failure()), minute_retries());
  item.settlement.progress = {waiting};
  item.settlement.lane = "worlds";
  must(store().settle(std::vector{item}));
  EXPECT_EQ(reroute(1, 2), 1);
  EXPECT_EQ(event(id).attempts, 1);
  EXPECT_THAT(event(id).progress, IsEmpty());
  age(61s);
  ClaimRequest request = request_for("w1");
  request.generation = 2;
  request.handlers = {"billing.meter"};
  EXPECT_THAT(ids(claim(request)), ElementsAre(id)) << "the lane is gone as well";
}

TEST_P(RerouteContract, TheOrderOfAKeyHolds) {
  const auto published = publish({a_keyed_event("k"), a_keyed_event("k")});
  EXPECT_EQ(reroute(1, 2), 2);
  const auto first = claim_in(2);
  ASSERT_THAT(ids(first), ElementsAre(published[0]));
  deliver(first[0]);
  EXPECT_THAT(ids(claim_in(2)), ElementsAre(published[1]));
}

TEST_P(RerouteContract, EachCallIsAuditedWithItsCount) {
  publish(events(3));
  reroute(1, 2, 2);
  reroute(1, 2, 2);
  const Rows audited = raw_sql("select actor, reason, count, detail from {audit} where action = 'reroute' order by id");
  ASSERT_THAT(audited, SizeIs(2));
  EXPECT_EQ(audited[0][0], "alice@example.com");
  EXPECT_EQ(audited[0][1], "the upstream is back");
  EXPECT_EQ(audited[0][2], "2");
  EXPECT_EQ(audited[1][2], "1");
  EXPECT_THAT(audited[0][3].value_or(""), HasSubstr("to_generation"));
}

TEST_P(RerouteContract, AnImpossibleTargetIsRefused) {
  const Uuid id = publish();
  for (const Generation to : {Generation{1}, Generation{0}, Generation{-3}}) {
    const auto refused = store().reroute(1, to, 10, operator_alice());
    ASSERT_FALSE(refused) << to;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  }
  EXPECT_EQ(event(id).generation, 1);
}

}  // namespace
}  // namespace sluice::contract
