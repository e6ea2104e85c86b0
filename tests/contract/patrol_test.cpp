#include <map>

#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::PatrolRequest;
using store::PatrolStep;
using store::StrandedCause;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class PatrolContract : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    must(store().subscribe(1, std::vector{subscription("tests.all", {"test.*"})}));
  }

  static PatrolRequest request_of(const std::string& holder) {
    PatrolRequest request;
    request.holder = holder;
    return request;
  }

  /// What one whole round heals.
  std::map<Uuid, StrandedCause> round(PatrolRequest request = request_of("p1")) {
    std::map<Uuid, StrandedCause> healed;
    for (int step = 0; step < 1000; ++step) {
      const PatrolStep seen = must(store().patrol(request));
      EXPECT_TRUE(seen.held);
      for (const auto& [id, cause] : seen.healed) EXPECT_TRUE(healed.emplace(id, cause).second) << "healed twice";
      if (seen.round_over) return healed;
    }
    ADD_FAILURE() << "the round does not end";
    return healed;
  }

  /// As the worker that hosts the subscribed handler.
  std::vector<ClaimedEvent> claim_as_worker() {
    ClaimRequest request = request_for("w1", 100);
    request.interests = {{"test.*", {}, {}}};
    request.handlers = {"tests.all"};
    return claim(request);
  }

  void strand(const Uuid& id, StrandedCause cause) { must(harness().strand(id, cause)); }

  /// A pending event behind everything that claims look at.
  Uuid passed_over() {
    deliver_one();
    const Uuid id = publish();
    strand(id, StrandedCause::passed_over);
    EXPECT_THAT(claim_as_worker(), IsEmpty());
    return id;
  }
  void deliver_one() {
    publish();
    for (const ClaimedEvent& event : claim_as_worker()) deliver(event);
    EXPECT_THAT(claim_as_worker(), IsEmpty());
  }
};
SLUICE_OVER_EVERY_STORE(PatrolContract);

TEST_P(PatrolContract, FindsNothingWhereAllIsWell) {
  must(store().subscribe(1, std::vector{subscription("other.all", {"test.*"})}));
  failed_event();
  publish(a_keyed_event("a"));
  publish(a_keyed_event("a"));
  const auto claimed = publish();
  ASSERT_FALSE(claim_as_worker().empty());
  NewEvent later = an_event();
  later.delay = 1h;
  publish(later);
  publish(an_event("unwanted.happened"));
  NewEvent unwanted = an_event("unwanted.happened");
  unwanted.ordering_key = "a";
  publish(unwanted);
  publish(events(3));
  age(2min);
  EXPECT_THAT(round(), IsEmpty());
  EXPECT_THAT(round(), IsEmpty());
  EXPECT_EQ(event(claimed).status, Status::in_flight);
  EXPECT_THAT(must(store().diagnose(store::DiagnosisDepth::whole)).stranded->causes, IsEmpty());
}

TEST_P(PatrolContract, AnEventThatEveryClaimHasPassedIsMadeDue) {
  const Uuid id = passed_over();
  age(2min);
  EXPECT_THAT(round(), ElementsAre(testing::Pair(id, StrandedCause::passed_over)));
  EXPECT_THAT(ids(claim_as_worker()), ElementsAre(id));
  EXPECT_THAT(round(), IsEmpty());
}

TEST_P(PatrolContract, AnEventThatWaitsOnlyForWhoDoesNotWantItIsMadeDueForAll) {
  const Uuid id = publish();
  SettleItem item = settle_item(claim_one(), Outcome::released());
  HandlerProgress gone;
  gone.handler_name = "gone.away";
  gone.due = must(store().now());
  item.settlement.progress = {gone};
  item.settlement.lane = "gone";
  must(store().settle(std::vector{item}));
  EXPECT_THAT(claim_as_worker(), IsEmpty());
  age(2min);
  EXPECT_THAT(round(), ElementsAre(testing::Pair(id, StrandedCause::passed_over)));
  EXPECT_THAT(ids(claim_as_worker()), ElementsAre(id));
  EXPECT_THAT(round(), IsEmpty());
}

TEST_P(PatrolContract, AClaimHasAMinuteToFindIt) {
  const Uuid id = passed_over();
  EXPECT_THAT(round(), IsEmpty());
  age(61s);
  EXPECT_THAT(round(), ElementsAre(testing::Pair(id, StrandedCause::passed_over)));
}

TEST_P(PatrolContract, WhatNobodyWantsIsLeftAlone) {
  deliver_one();
  const Uuid id = publish(an_event("unwanted.happened"));
  strand(id, StrandedCause::passed_over);
  age(2min);
  EXPECT_THAT(round(), IsEmpty());
}

TEST_P(PatrolContract, AnEventInFlightWithoutAClaimIsExpired) {
  const Uuid id = publish();
  ASSERT_THAT(claim_as_worker(), SizeIs(1));
  strand(id, StrandedCause::no_claim);
  age(2min);
  EXPECT_THAT(round(), ElementsAre(testing::Pair(id, StrandedCause::no_claim)));
  for (const store::ExpiredClaim& expired : must(store().expired_claims(10))) {
    SettleItem item;
    item.claim = expired.claim;
    item.settlement = sluice::settle(expired.attempts, Outcome::expired(), minute_retries(), 0.5);
    EXPECT_EQ(must(store().settle(std::vector{item})).settled, 1);
  }
  age(61s);
  EXPECT_THAT(ids(claim_as_worker()), ElementsAre(id));
  EXPECT_THAT(round(), IsEmpty());
}

TEST_P(PatrolContract, AClaimThatIsHeldIsLeftAlone) {
  publish();
  const auto held = claim_as_worker();
  ASSERT_THAT(held, SizeIs(1));
  age(2min);
  EXPECT_THAT(round(), IsEmpty());
  EXPECT_EQ(deliver(held.front()).settled, 1);
}

TEST_P(PatrolContract, AnEventThatWaitsForNothingOfItsKeyIsReleased) {
  const Uuid head = publish(a_keyed_event("a"));
  const Uuid second = publish(a_keyed_event("a"));
  const Uuid third = publish(a_keyed_event("a"));
  ASSERT_THAT(ids(claim_as_worker()), ElementsAre(head));
  ASSERT_THAT(claim_as_worker(), IsEmpty());
  strand(head, StrandedCause::blocker_gone);
  ASSERT_THAT(claim_as_worker(), IsEmpty());
  age(2min);
  EXPECT_THAT(round(), ElementsAre(testing::Pair(second, StrandedCause::blocker_gone)));
  const auto next = claim_as_worker();
  ASSERT_THAT(ids(next), ElementsAre(second));
  EXPECT_THAT(round(), IsEmpty()) << "the third waits for the second";
  deliver(next.front());
  EXPECT_THAT(ids(claim_as_worker()), ElementsAre(third));
}

TEST_P(PatrolContract, SmallStepsFindAllOfThem) {
  deliver_one();
  std::vector<Uuid> stranded;
  for (int n = 0; n < 5; ++n) {
    stranded.push_back(publish());
    publish(a_keyed_event("k" + std::to_string(n)));
  }
  for (const Uuid& id : stranded) strand(id, StrandedCause::passed_over);
  age(2min);
  PatrolRequest small = request_of("p1");
  small.rows = 2;
  EXPECT_THAT(round(small), SizeIs(5));
  EXPECT_THAT(round(small), IsEmpty());
}

TEST_P(PatrolContract, OneHolderAtATime) {
  const Uuid id = passed_over();
  ASSERT_TRUE(must(store().patrol(request_of("p1"))).held);
  age(2min);
  const PatrolStep refused = must(second_store()->patrol(request_of("p2")));
  EXPECT_FALSE(refused.held);
  EXPECT_THAT(refused.healed, IsEmpty());
  age(9min);
  EXPECT_THAT(round(request_of("p2")), ElementsAre(testing::Pair(id, StrandedCause::passed_over)));
  EXPECT_FALSE(must(store().patrol(request_of("p1"))).held);
}

TEST_P(PatrolContract, AHolderMayHandItOn) {
  PatrolRequest last = request_of("p1");
  last.lease = Duration::zero();
  ASSERT_TRUE(must(store().patrol(last)).held);
  EXPECT_TRUE(must(store().patrol(request_of("p2"))).held);
}

TEST_P(PatrolContract, WhatWasHealedIsRememberedForADay) {
  const Uuid id = passed_over();
  age(2min);
  ASSERT_THAT(round(), SizeIs(1));
  const auto stranded = must(store().diagnose(store::DiagnosisDepth::glance)).stranded;
  ASSERT_TRUE(stranded);
  ASSERT_THAT(stranded->causes, SizeIs(1));
  EXPECT_EQ(stranded->causes.front().cause, StrandedCause::passed_over);
  EXPECT_EQ(stranded->causes.front().count, 1);
  EXPECT_EQ(stranded->causes.front().latest_id, id);
  age(25h);
  EXPECT_THAT(must(store().diagnose(store::DiagnosisDepth::whole)).stranded->causes, IsEmpty());
}

}  // namespace
}  // namespace sluice::contract
