// What only a hand or a bug can do to the file, and how the patrol mends it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/store.hpp"
#include "tests/support/embedded_store.hpp"
#include "tests/support/events.hpp"

namespace sluice::store {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class SqlitePatrol : public testing::Test {
 protected:
  SqlitePatrol() {
    const Subscription wanted{.handler_name = "tests.all", .event_types = {"test.*"}};
    store.subscribe(1, {wanted});
  }

  Uuid publish(const std::string& type, const std::optional<std::string>& key = {}) {
    NewEvent event = test::an_event(type);
    event.ordering_key = key;
    if (!store->publish(std::span{&event, 1})) throw std::runtime_error("cannot publish");
    return event.envelope.event_id();
  }
  std::vector<Uuid> claim() {
    ClaimRequest request;
    request.worker = "w1";
    request.interests = {{"test.*", {}, {}}};
    request.handlers = {"tests.all"};
    const auto claimed = store.whole().claim(request);
    if (!claimed) throw std::runtime_error(claimed.error().message);
    std::vector<Uuid> ids;
    for (const ClaimedEvent& event : *claimed) ids.push_back(event.envelope.event_id());
    return ids;
  }
  PatrolStep patrol(const std::string& holder = "p1", Duration lease = 10min) {
    auto step = store->patrol({.holder = holder, .lease = lease});
    if (!step) throw std::runtime_error(step.error().message);
    return *std::move(step);
  }
  std::vector<Uuid> healed(StrandedCause cause) {
    std::vector<Uuid> ids;
    for (const PatrolStep::Healed& one : patrol().healed) {
      EXPECT_EQ(name(one.cause), name(cause));
      ids.push_back(one.id);
    }
    return ids;
  }

  test::EmbeddedStore store;
};

TEST_F(SqlitePatrol, AnEventThatIsWronglySaidToBeWantedHoldsUpItsKeyForARound) {
  publish("unwanted", "a");
  const Uuid next = publish("test.next", "a");
  store.sql("update outbox set key_subscribed = 1 where event_type = 'unwanted'");
  ASSERT_THAT(claim(), IsEmpty());
  EXPECT_THAT(healed(StrandedCause::blocker_gone), ElementsAre(next));
  EXPECT_THAT(claim(), ElementsAre(next));
}

TEST_F(SqlitePatrol, AKeyOfWhichSomethingIsInFlightWaits) {
  const Uuid running = publish("test.first", "a");
  publish("test.second", "a");
  ASSERT_THAT(claim(), ElementsAre(running));
  store.sql("update outbox set key_blocked = 1");
  EXPECT_THAT(patrol().healed, IsEmpty());
}

TEST_F(SqlitePatrol, AClaimWhoseEndCannotBeReadIsExpired) {
  const Uuid id = publish("test.event");
  ASSERT_THAT(claim(), ElementsAre(id));
  store.sql("update outbox set claim_expires_at = 'soon'");
  ASSERT_THAT(*store->expired_claims(10), IsEmpty());
  EXPECT_THAT(healed(StrandedCause::no_claim), ElementsAre(id));
  const auto expired = store->expired_claims(10);
  ASSERT_EQ(expired->size(), 1U);
  EXPECT_EQ(expired->front().claim.event_id, id);
}

TEST_F(SqlitePatrol, ATimeThatCannotBeReadHasCome) {
  const Uuid id = publish("test.event");
  store.sql("update outbox set retry_after = 'ZZZZ-01-01T00:00:00.000000Z'");
  ASSERT_THAT(claim(), IsEmpty());
  EXPECT_THAT(healed(StrandedCause::passed_over), ElementsAre(id));
  EXPECT_THAT(claim(), ElementsAre(id));
}

TEST_F(SqlitePatrol, AnEventThatWaitsForAHandlerWhichNoLongerWantsItGoesToThoseThatDo) {
  const Subscription other{.handler_name = "other.handler", .event_types = {"test.*"}};
  store.subscribe(1, {other});
  const Uuid id = publish("test.event");
  store.sql("update outbox set retry_after = '" + to_iso8601(store.now) + "', lane = 'other', progress = " +
            R"('[{"handler":"other.handler","due":")" + to_iso8601(store.now) + R"("}]')");
  store.now += 2min;
  ASSERT_THAT(claim(), IsEmpty());
  EXPECT_THAT(patrol().healed, IsEmpty()) << "other.handler may come back for it";
  // Behind Sluice's back: whoever subscribes to less frees what waited for it.
  store.sql("update subscriptions set event_types = '[\"something.else\"]' where handler_name = 'other.handler'");
  EXPECT_THAT(healed(StrandedCause::passed_over), ElementsAre(id));
  EXPECT_THAT(claim(), ElementsAre(id));
}

TEST_F(SqlitePatrol, TheLatestThousandAreRemembered) {
  store.sql(
      "with recursive n (i) as (values (1) union all select i + 1 from n where i < 1500) "
      "insert into stranded (at, event_id, event_type, generation, cause) "
      "select '2020-01-01T00:00:00.000000Z', '01890000-0000-7000-8000-000000000001', 'test.old', 1, 'no_claim' from n");
  publish("test.event");
  claim();
  store.sql("update outbox set claim_expires_at = null");
  ASSERT_EQ(patrol().healed.size(), 1U);
  EXPECT_THAT(store.sql("select count(*) from stranded"), ElementsAre("1000"));
  EXPECT_THAT(store.sql("select count(*) from stranded where event_type = 'test.event'"), ElementsAre("1"));
}

TEST_F(SqlitePatrol, AClockThatIsSetBackLocksNobodyOut) {
  ASSERT_TRUE(patrol("p1").held);
  store.now -= std::chrono::days{400};
  EXPECT_TRUE(patrol("p2").held);
}

}  // namespace
}  // namespace sluice::store
