#include <future>

#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::EffectTransaction;
using store::HandledKey;
using Entered = EffectTransaction::Entered;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kHandler = "billing.meter";

/// A handler whose effect is a row in a table of its own.
class EffectContract : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    raw_sql("create table effect (name text not null)");
  }

  std::unique_ptr<EffectTransaction> begin() { return must(store().begin_effect(std::chrono::minutes{1})); }
  Entered enter(EffectTransaction& effect, const ClaimedEvent& claimed) {
    return must(effect.enter(kHandler, std::vector{entry(claimed)})).at(0);
  }
  void act(EffectTransaction& effect, const std::string& name = "done") {
    must(harness().run_in(effect.native(), "insert into effect values ('" + name + "')"));
  }
  void settle_in(EffectTransaction& effect, const ClaimedEvent& claimed) {
    EXPECT_EQ(must(effect.settle(std::vector{settle_item(claimed, Outcome::handled())}, std::nullopt)).settled, 1);
  }

  static EffectTransaction::Entry entry(const ClaimedEvent& claimed) {
    return {claimed.claim, claimed.envelope.idempotency_key()};
  }
  std::vector<std::string> effects() {
    std::vector<std::string> names;
    for (const auto& row : raw_sql("select name from effect order by name")) names.push_back(row[0].value_or(""));
    return names;
  }
  std::size_t handled(const ClaimedEvent& claimed) {
    return must(store().handled(event(claimed.envelope.event_id()))).size();
  }
  Status status(const ClaimedEvent& claimed) { return event(claimed.envelope.event_id()).status; }
};
SLUICE_OVER_EVERY_STORE(EffectContract);

NewEvent with_key(const std::string& idempotency_key) {
  EnvelopeDraft draft = a_draft();
  draft.idempotency_key = idempotency_key;
  return an_event(draft);
}

TEST_P(EffectContract, EffectDedupAndSettleCommitTogether) {
  publish();
  const ClaimedEvent claimed = claim_one();
  const auto effect = begin();
  EXPECT_EQ(enter(*effect, claimed), Entered::fresh);
  act(*effect);
  settle_in(*effect, claimed);
  EXPECT_THAT(effects(), IsEmpty()) << "not before the commit";
  EXPECT_EQ(status(claimed), Status::in_flight);
  EXPECT_EQ(handled(claimed), 0U);
  must(effect->commit());
  EXPECT_THAT(effects(), SizeIs(1));
  EXPECT_EQ(status(claimed), Status::delivered);
  const auto records = must(store().handled(event(claimed.envelope.event_id())));
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].key, (HandledKey{kHandler, claimed.envelope.idempotency_key()}));
}

TEST_P(EffectContract, WithoutACommitNothingHappened) {
  publish();
  const ClaimedEvent claimed = claim_one();
  {
    const auto effect = begin();
    EXPECT_EQ(enter(*effect, claimed), Entered::fresh);
    act(*effect);
    settle_in(*effect, claimed);
  }
  EXPECT_THAT(effects(), IsEmpty());
  EXPECT_EQ(status(claimed), Status::in_flight);
  EXPECT_EQ(handled(claimed), 0U);
  EXPECT_EQ(enter(*begin(), claimed), Entered::fresh) << "it may be tried again";
}

TEST_P(EffectContract, ALostClaimIsFencedAndRecordsNothing) {
  publish();
  const ClaimedEvent stale = claim_one();
  settle(stale, Outcome::released());
  const ClaimedEvent current = claim_one();
  const auto effect = begin();
  EXPECT_EQ(enter(*effect, stale), Entered::fenced);
  must(effect->commit());
  EXPECT_EQ(handled(stale), 0U);
  EXPECT_EQ(enter(*begin(), current), Entered::fresh);
}

TEST_P(EffectContract, ASettledEventIsFenced) {
  publish();
  const ClaimedEvent claimed = claim_one();
  deliver(claimed);
  EXPECT_EQ(enter(*begin(), claimed), Entered::fenced);
}

TEST_P(EffectContract, WhatTheHandlerHasHandledIsNotFresh) {
  publish({with_key("order-17"), with_key("order-17")});
  const auto claimed = claim();
  {
    const auto effect = begin();
    EXPECT_EQ(enter(*effect, claimed[0]), Entered::fresh);
    must(effect->commit());
  }
  const auto effect = begin();
  EXPECT_EQ(enter(*effect, claimed[1]), Entered::handled);
  EXPECT_EQ(must(effect->enter("worlds.indexer", std::vector{entry(claimed[1])})).at(0), Entered::fresh)
      << "another handler has not";
}

TEST_P(EffectContract, AHandledEventCanBeSettledInTheSameTransaction) {
  publish();
  const ClaimedEvent first = claim_one();
  SettleItem item = settle_item(first, Outcome::released());
  item.handled_by = {kHandler};
  must(store().settle(std::vector{item}));
  const ClaimedEvent again = claim_one();
  const auto effect = begin();
  EXPECT_EQ(enter(*effect, again), Entered::handled);
  settle_in(*effect, again);
  must(effect->commit());
  EXPECT_EQ(status(again), Status::delivered);
}

TEST_P(EffectContract, ManyEntriesAnswerInTheirOrder) {
  publish({an_event(), with_key("order-17"), with_key("order-17"), an_event()});
  auto claimed = claim();
  ASSERT_THAT(claimed, SizeIs(4));
  settle(claimed[3], Outcome::released());
  const auto effect = begin();
  const auto entered = must(
      effect->enter(kHandler, std::vector{entry(claimed[3]), entry(claimed[1]), entry(claimed[0]), entry(claimed[2])}));
  ASSERT_THAT(entered, SizeIs(4));
  EXPECT_EQ(entered[0], Entered::fenced);
  EXPECT_EQ(entered[2], Entered::fresh);
  EXPECT_NE(entered[1], entered[3]) << "one of the two with the same key runs";
  for (const Entered each : {entered[1], entered[3]}) EXPECT_NE(each, Entered::fenced);
  EXPECT_THAT(must(effect->enter(kHandler, {})), IsEmpty());
}

TEST_P(EffectContract, OfTwoThatRaceForAKeyTheSecondSeesItHandled) {
  publish({with_key("order-17"), with_key("order-17")});
  const auto claimed = claim();
  const auto rival_store = second_store();
  auto effect = begin();
  ASSERT_EQ(enter(*effect, claimed[0]), Entered::fresh);
  auto rival = std::async(std::launch::async, [&] {
    const auto other = must(rival_store->begin_effect(std::chrono::minutes{1}));
    return enter(*other, claimed[1]);
  });
  must(effect->commit());
  EXPECT_EQ(rival.get(), Entered::handled);
}

TEST_P(EffectContract, OfTwoThatRaceForAKeyTheSecondRunsWhenTheFirstIsUndone) {
  publish({with_key("order-17"), with_key("order-17")});
  const auto claimed = claim();
  const auto rival_store = second_store();
  auto effect = begin();
  ASSERT_EQ(enter(*effect, claimed[0]), Entered::fresh);
  auto rival = std::async(std::launch::async, [&] {
    const auto other = must(rival_store->begin_effect(std::chrono::minutes{1}));
    return enter(*other, claimed[1]);
  });
  effect.reset();
  EXPECT_EQ(rival.get(), Entered::fresh);
}

TEST_P(EffectContract, UndoingToAMarkKeepsWhatCameBefore) {
  publish(events(2));
  const auto claimed = claim();
  const auto effect = begin();
  must(effect->mark());
  EXPECT_EQ(enter(*effect, claimed[0]), Entered::fresh);
  act(*effect, "kept");
  must(effect->mark());
  EXPECT_EQ(enter(*effect, claimed[1]), Entered::fresh);
  act(*effect, "undone");
  must(effect->undo_to_mark());
  act(*effect, "undone, too");
  must(effect->undo_to_mark());
  act(*effect, "later");
  must(effect->commit());
  EXPECT_THAT(effects(), ElementsAre("kept", "later"));
  EXPECT_EQ(handled(claimed[0]), 1U);
  EXPECT_EQ(handled(claimed[1]), 0U);
}

TEST_P(EffectContract, AFailedStatementIsUndoneToTheMark) {
  publish();
  const ClaimedEvent claimed = claim_one();
  const auto effect = begin();
  EXPECT_EQ(enter(*effect, claimed), Entered::fresh);
  must(effect->mark());
  act(*effect, "undone");
  EXPECT_FALSE(harness().run_in(effect->native(), "insert into effect values (null)"));
  must(effect->undo_to_mark());
  settle_in(*effect, claimed);
  must(effect->commit());
  EXPECT_THAT(effects(), IsEmpty());
  EXPECT_EQ(status(claimed), Status::delivered);
}

TEST_P(EffectContract, ASettleOnAnOldRegistryIsRefusedAndCanBeDecidedAgain) {
  publish();
  const ClaimedEvent claimed = claim_one();
  const auto old = must(store().registry(1)).version;
  must(store().subscribe(1, std::vector{subscription("worlds.indexer")}));
  const auto current = must(store().registry(1)).version;
  const auto effect = begin();
  EXPECT_EQ(enter(*effect, claimed), Entered::fresh);
  act(*effect);
  must(effect->mark());
  const auto refused = effect->settle(std::vector{settle_item(claimed, Outcome::handled())}, old);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(store::is_registry_changed(refused.error())) << refused.error().message;
  must(effect->undo_to_mark());
  EXPECT_EQ(must(effect->settle(std::vector{settle_item(claimed, Outcome::released())}, current)).settled, 1);
  must(effect->commit());
  EXPECT_EQ(status(claimed), Status::pending);
  EXPECT_THAT(effects(), SizeIs(1));
}

TEST_P(EffectContract, ASettleOfALostClaimIsFenced) {
  publish();
  const ClaimedEvent stale = claim_one();
  settle(stale, Outcome::released());
  const auto effect = begin();
  const auto report = must(effect->settle(std::vector{settle_item(stale, Outcome::handled())}, std::nullopt));
  EXPECT_THAT(report.fenced, ElementsAre(stale.envelope.event_id()));
  EXPECT_EQ(report.settled, 0);
}

TEST_P(EffectContract, AHeartbeatMeanwhileLosesNothing) {
  publish();
  const ClaimedEvent claimed = claim_one();
  auto effect = begin();
  EXPECT_EQ(enter(*effect, claimed), Entered::fresh);
  auto lost = std::async(std::launch::async, [&] { return must(store().heartbeat(std::vector{claimed.claim}, 300s)); });
  // A store with one writer makes the heartbeat wait; the others let it pass.
  if (!store().capabilities().embedded) {
    EXPECT_EQ(lost.wait_for(10s), std::future_status::ready);
  }
  effect.reset();
  EXPECT_THAT(lost.get(), IsEmpty());
}

TEST_P(EffectContract, ReadingDoesNotWait) {
  publish();
  const ClaimedEvent claimed = claim_one();
  const auto effect = begin();
  EXPECT_EQ(enter(*effect, claimed), Entered::fresh);
  EXPECT_THAT(must(store().already_handled(std::vector<HandledKey>{{kHandler, claimed.envelope.idempotency_key()}})),
              IsEmpty());
  EXPECT_EQ(status(claimed), Status::in_flight);
}

TEST_P(EffectContract, TheNativeHandleIsThatOfTheDatabase) {
  const auto effect = begin();
  EXPECT_EQ(effect->native().sqlite != nullptr, GetParam() == "sqlite");
  EXPECT_EQ(effect->native().postgres != nullptr, GetParam() != "sqlite");
}

}  // namespace
}  // namespace sluice::contract
