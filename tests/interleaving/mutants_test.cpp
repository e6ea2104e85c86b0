// The explorer finds what it is there for: each guard taken out of the schema is missed by some order.
#include <gtest/gtest.h>

#include "tests/interleaving/scenarios.hpp"

namespace sluice::test {
namespace {

constexpr std::uint64_t kMost = 3000;

class Mutant : public testing::Test {
 protected:
  std::string violation(const Scenario& scenario, std::uint64_t most = kMost) {
    return explore(scenario, world, most, 1).violation;
  }
  World world;
};

TEST_F(Mutant, TheLowMarkDoesNotWaitForOpenTransactions) {
  world.mutate("claim_cursor_advance", {{"if v_ended and v_row.low = v_at then", "if v_row.low = v_at then"}});
  EXPECT_NE(violation(late_commits()), "");
}

TEST_F(Mutant, TheLowMarkMovesOverWhatWasReadBefore) {
  world.mutate("claim_cursor_advance",
               {{"v_held := v_plain;", "v_held := nullif(current_setting('glance.first_open', true), '')::bigint;"}});
  EXPECT_NE(violation(two_looks()), "");
}

TEST_F(Mutant, TheMarkStandsOnTheLatestTransactionThatEnded) {
  world.mutate("claim_cursor_advance", {{"when v_ended then pg_current_xact_id()::text::bigint",
                                         "when v_ended then pg_snapshot_xmax(pg_current_snapshot())::text::bigint"}});
  EXPECT_NE(violation(late_commits()), "");
}

// A head that jumps over events is a matter of speed, as long as nobody saves it.
const std::pair<std::string, std::string> kHeadJumps{"if v_seen < v_room then", "if true then"};

TEST_F(Mutant, AHeadThatJumpsStrandsNothing) {
  world.mutate("outbox_claim", {kHeadJumps});
  EXPECT_EQ(violation(little_room(), most_orders() / 2), "");
}

TEST_F(Mutant, AHeadThatJumpsIsTrusted) {
  world.mutate("outbox_claim",
               {kHeadJumps,
                {"v_keyed := v_keyed or v_fresh_keyed;",
                 "update core.claim_cursors c set low = greatest(c.low, v_head) where c.generation = p_generation;\n"
                 "v_keyed := v_keyed or v_fresh_keyed;"}});
  EXPECT_NE(violation(little_room()), "");
}

TEST_F(Mutant, AnEventIsParkedWhileTheSettleOfItsBlockerIsUnderWay) {
  world.mutate("outbox_park", {{"for share skip locked", ""}});
  EXPECT_NE(violation(late_successor()), "");
}

TEST_F(Mutant, AnEventWaitsForTheNearestEarlierOneOnly) {
  world.replace(R"(
    create or replace function core.outbox_blocker(p_key text, p_seq bigint, p_id uuid) returns uuid
    language sql stable set search_path = pg_catalog, pg_temp
    as $$
        select coalesce(
            (select k.event_id from core.keys_in_flight k where k.ordering_key = p_key collate "C" and k.event_id <> p_id),
            (select n.id from (
                select o.id, o.status from core.outbox o where o.ordering_key = p_key and o.seq < p_seq order by o.seq desc limit 1) n
             where n.status = 'pending'))
    $$)");
  EXPECT_NE(violation(out_of_order()), "");
}

TEST_F(Mutant, KeysInFlightAreNotHeld) {
  world.mutate("outbox_claim", {{R"(            insert into core.keys_in_flight (ordering_key, event_id)
            select w.ordering_key, w.id from wanted w)",
                                 "            select w.id as event_id from wanted w"},
                                {"            on conflict do nothing\n            returning event_id)", ")"}});
  EXPECT_NE(violation(out_of_order()), "");
}

TEST_F(Mutant, TheFloorOfTheKeysDoesNotWaitForOpenTransactions) {
  world.mutate("key_floor_advance",
               {{"if pg_snapshot_xmin(pg_current_snapshot())::text::bigint <= v_row.mark_xid then", "if false then"}});
  EXPECT_NE(violation(two_looks()), "");
}

TEST_F(Mutant, AnEventIsParkedWhileASubscriptionIsWithdrawn) {
  world.mutate("unsubscribe", {{"perform pg_advisory_xact_lock(hashtextextended('sluice.park', 0));", ""}});
  EXPECT_NE(violation(withdrawn()), "");
}

TEST_F(Mutant, WhatNobodySubscribesToKeepsWhatItWasReleasedWith) {
  world.mutate("outbox_unblock", {{"if core.outbox_subscribed(v_parked) then", "if true then"}});
  EXPECT_NE(violation(passers_by()), "");
}

TEST_F(Mutant, ADeliveryMakesNoOtherDue) {
  world.mutate("keys_release", {{"perform core.outbox_unblock(v_key, null)", "perform length(v_key)"}});
  EXPECT_NE(violation(late_successor()), "");
}

TEST_F(Mutant, AFailureMakesNoOtherDue) {
  world.mutate("outbox_guard", {{"perform core.outbox_unblock(old.ordering_key", "perform length(old.ordering_key"},
                                {", case when new.status = 'pending' then old.seq end)", ")"}});
  EXPECT_NE(violation(late_successor(World::End::failed)), "");
}

TEST_F(Mutant, TheRelayIsTurnedOnWhileAClaimIsRunning) {
  world.mutate("relay_switch", {{"lock table core.settings in access exclusive mode;", ""}});
  EXPECT_NE(violation(relay_on()), "");
}

}  // namespace
}  // namespace sluice::test
