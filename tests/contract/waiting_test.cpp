// What keeps a pending event waiting: its key, and workers that leave it alone.
#include "tests/contract/contract.hpp"

namespace sluice::contract {
namespace {

using store::OverdueEvent;
using testing::IsEmpty;
using testing::SizeIs;

class WaitingContract : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    must(store().subscribe(1, std::vector{subscription("billing.meter", {"order.*"})}));
  }
  void announce() { must(store().announce({.identity = "w1", .generation = 1, .handlers = {"billing.meter"}})); }
  std::vector<OverdueEvent> overdue(int limit = 10) {
    return must(store().overdue({.patience = 5min, .alive_within = 30s, .limit = limit}));
  }
  std::optional<Uuid> blocker(const Uuid& id) { return must(store().key_blocker(event(id))); }
  static NewEvent keyed(const std::string& event_type) {
    NewEvent event = an_event(event_type);
    event.ordering_key = "k";
    return event;
  }
};
SLUICE_OVER_EVERY_STORE(WaitingContract);

TEST_P(WaitingContract, AnEventWaitsForTheOneOfItsKeyThatGoesFirst) {
  const Uuid first = publish(keyed("order.created"));
  const Uuid second = publish(keyed("order.paid"));
  const Uuid third = publish(keyed("order.sent"));
  EXPECT_EQ(blocker(first), std::nullopt);
  EXPECT_EQ(blocker(second), first);
  EXPECT_EQ(blocker(third), first);
  const auto claimed = claim_one();
  EXPECT_EQ(blocker(third), first) << "in flight comes before pending";
  deliver(claimed);
  EXPECT_EQ(blocker(second), std::nullopt);
  EXPECT_EQ(blocker(third), second);
  EXPECT_EQ(blocker(publish(an_event("order.created"))), std::nullopt) << "without a key";
}

TEST_P(WaitingContract, WhatNobodySubscribesToIsInNobodysWay) {
  publish(keyed("user.created"));
  EXPECT_EQ(blocker(publish(keyed("order.created"))), std::nullopt);
}

TEST_P(WaitingContract, AnEventThatALiveWorkerLeavesAloneIsOverdue) {
  const Uuid id = publish(an_event("order.created"));
  publish(an_event("user.created"));
  EXPECT_THAT(overdue(), IsEmpty());
  age(5min);
  EXPECT_THAT(overdue(), IsEmpty()) << "no worker is alive";
  announce();
  const auto late = overdue();
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].id, id);
  EXPECT_EQ(late[0].event_type, "order.created");
  EXPECT_EQ(late[0].generation, 1);
  EXPECT_EQ(late[0].due, event(id).published_at);
  EXPECT_EQ(late[0].handler_name, "billing.meter");
  EXPECT_EQ(late[0].cause, OverdueEvent::Cause::behind);
  deliver(claim(request_for("w1", 1)).front());
  EXPECT_THAT(overdue(), IsEmpty());
}

TEST_P(WaitingContract, RetriesAreOverdueFromTheirTimeOn) {
  const Uuid id = publish(an_event("order.created"));
  settle(claim_one(), Outcome::failed(timeout_failure()), minute_retries());
  age(5min);
  announce();
  EXPECT_THAT(overdue(), IsEmpty()) << "due for four minutes";
  age(1min);
  announce();
  ASSERT_THAT(overdue(), SizeIs(1));
  EXPECT_EQ(overdue()[0].id, id);
  EXPECT_EQ(overdue()[0].due, event(id).retry_after);
}

TEST_P(WaitingContract, WaitingForItsKeyIsNotOverdue) {
  const Uuid first = publish(keyed("order.created"));
  publish(keyed("order.paid"));
  age(6min);
  announce();
  ASSERT_THAT(overdue(), SizeIs(1));
  EXPECT_EQ(overdue()[0].id, first);
  const auto claimed = claim_one();
  EXPECT_THAT(overdue(), IsEmpty()) << "its key is in flight";
  deliver(claimed);
}

TEST_P(WaitingContract, TheLongestDueComeFirst) {
  const Uuid first = publish(an_event("order.created"));
  age(1min);
  publish(an_event("order.created"));
  age(6min);
  announce();
  ASSERT_THAT(overdue(), SizeIs(2));
  ASSERT_THAT(overdue(1), SizeIs(1));
  EXPECT_EQ(overdue(1)[0].id, first);
}

}  // namespace
}  // namespace sluice::contract
