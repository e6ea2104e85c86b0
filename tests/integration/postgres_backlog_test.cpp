// A backlog that many sessions and processes work off, and the batches that they leave.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "store/postgres/postgres_store_impl.hpp"
#include "tests/integration/claim_fixture.hpp"

namespace sluice::test {
namespace {

// Claims until nothing is left; fails on an event that comes twice.
class PostgresBacklog : public PostgresClaim {
 protected:
  int drain(const std::vector<store::Store*>& stores) {
    for (std::size_t vain = 0; vain < stores.size();) {
      for (store::Store* store : stores) {
        const auto events = claim(*store, 100);
        vain = events.empty() ? vain + 1 : 0;
        for (const auto& event : events) EXPECT_TRUE(seen.insert(event.claim.event_id).second) << "claimed twice";
      }
    }
    return static_cast<int>(seen.size());
  }
  std::set<Uuid> seen;
};

TEST_F(PostgresBacklog, TwoProcessesTakeEachEventOnce) {
  session.must(insert(3000, "a"));
  const auto one = open();
  const auto other = open();
  EXPECT_EQ(drain({one.get(), other.get()}), 3000);
  EXPECT_EQ(session.must("select sum(cardinality(seqs)) from core.claims").value(), "3000");
}

TEST_F(PostgresBacklog, AnEventThatSomebodyLocksHoldsUpNoOther) {
  session.must(insert(1000, "a"));
  SqlSession rival{database.url()};
  rival.must("begin");
  rival.must("select from core.outbox where seq = 350 for update");
  // A rescan that a busy machine made slow is no reason to read only what was missing in it: the locked one was not.
  const auto store = open(4, {}, std::chrono::hours{1});
  EXPECT_EQ(drain({store.get()}), 999);
  rival.must("rollback");
  EXPECT_EQ(drain({store.get()}), 1000);
}

TEST_F(PostgresBacklog, NumbersThatWereRolledBackAreNoObstacle) {
  for (int i = 0; i < 5; ++i) {
    session.must(insert(150, "a"));
    session.must("begin");
    session.must(insert(70, "never"));
    session.must("rollback");
  }
  EXPECT_EQ(drain({open().get()}), 750);
}

TEST_F(PostgresBacklog, OfAnOrderingKeyOneIsTaken) {
  session.must(insert(400, "a"));
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) select 'keyed', 'worlds', 1, "
      "'{}', "
      "'k' from generate_series(1, 50)");
  session.must(insert(400, "a"));
  EXPECT_EQ(drain({open().get()}), 801);
}

TEST_F(PostgresBacklog, WhatIsDueGoesFirst) {
  session.must(insert(1000, "new"));
  const auto store = open();
  ASSERT_EQ(claim(*store).size(), 100U);
  ASSERT_EQ(claim(*store).size(), 100U);
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, retry_after) values ('due', 'worlds', 1, "
      "'{}', "
      "now())");
  const auto events = claim(*store);
  EXPECT_TRUE(std::any_of(events.begin(), events.end(),
                          [](const auto& event) { return event.envelope.event_type() == "due"; }));
}

TEST_F(PostgresClaim, AHundredSessionsShareTheWorkWithoutLossOrOverlap) {
  session.must(insert(3000, "a"));
  const auto store = open(100);
  std::atomic<int> delivered{0};
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 100; ++i) {
      workers.emplace_back([&, i] {
        for (int empty = 0; empty < 3;) {
          auto events = store->claim({.worker = "w" + std::to_string(i), .limit = 10});
          ASSERT_TRUE(events) << events.error().message;
          if (events->empty()) ++empty;
          deliver(*store, *events);
          delivered += static_cast<int>(events->size());
        }
      });
    }
  }
  EXPECT_EQ(delivered.load(), 3000);
  EXPECT_EQ(count("status = 'delivered' and claim_seq = 1"), "3000");
  EXPECT_EQ(session.must("select count(*) from core.claims").value(), "0") << "settled batches are forgotten";
}

TEST_F(PostgresClaim, ABatchIsForgottenOnlyWhenItsLastEventIsSettled) {
  session.must(insert(2, "a"));
  const auto store = open();
  const auto events = claim(*store);
  ASSERT_EQ(events.size(), 2U);
  deliver(*store, {events[0]});
  store::SettleItem again{.claim = events[0].claim, .settlement = {}, .handled_by = {}, .idempotency_key = {}};
  const auto repeated = store->settle(std::span{&again, 1});
  ASSERT_TRUE(repeated);
  EXPECT_EQ(repeated->fenced.size(), 1U);
  EXPECT_EQ(session.must("select count(*) from core.claims").value(), "1") << "the other event can still expire";
  deliver(*store, {events[1]});
  EXPECT_EQ(session.must("select count(*) from core.claims").value(), "0");
}

TEST_F(PostgresClaim, SurvivesAServerThatDropsItsConnections) {
  session.must(insert(10, "a"));
  const auto store = open(1);
  ASSERT_EQ(claim(*store, 1).size(), 1U);
  session.must(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sluice' and datname = "
      "current_database()");
  // The idle connection's end is noticed before it is used, so this is a new connection, not an error.
  std::vector<store::ClaimedEvent> next;
  for (int tries = 0; tries < 50 && next.empty(); ++tries) {
    auto claimed = store->claim({.worker = "w", .limit = 1});
    if (claimed) next = std::move(claimed).value();
  }
  EXPECT_EQ(next.size(), 1U);
}

std::size_t open_batches(store::Store& store) { return dynamic_cast<store::PostgresStore&>(store).open_batches(); }

// Workers that pull reach now one daemon, now another: what one claims the other settles.
TEST_F(PostgresClaim, WhatIsPulledThroughTwoStoresLeavesNothingBehind) {
  const auto one = open(6);
  const auto other = open(6);
  session.must(insert(900, "pull.keyless"));
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) "
      "select 'pull.keyed', 'worlds', 1, '{}', 'k' || n % 50 from generate_series(1, 100) n");
  std::atomic<int> delivered = 0;
  {
    std::vector<std::jthread> workers;
    for (int n = 0; n < 4; ++n) {
      workers.emplace_back([&, n] {
        store::Store& claims = n % 2 == 0 ? *one : *other;
        store::Store& settles = n % 2 == 0 ? *other : *one;
        while (delivered < 1000) {
          const auto claimed = claims.claim({.worker = "pull" + std::to_string(n), .limit = 7, .settled_here = false});
          ASSERT_TRUE(claimed) << claimed.error().message;
          // A batch comes back in parts, and through both.
          std::vector<store::ClaimedEvent> here;
          std::vector<store::ClaimedEvent> there;
          for (std::size_t i = 0; i < claimed->size(); ++i) (i % 2 == 0 ? here : there).push_back((*claimed)[i]);
          deliver(settles, there);
          deliver(claims, here);
          delivered += static_cast<int>(claimed->size());
        }
      });
    }
  }
  EXPECT_EQ(count("status = 'delivered'"), "1000");
  EXPECT_EQ(session.must("select count(*) from core.claims").value(), "0");
  EXPECT_EQ(session.must("select count(*) from core.keys_in_flight").value(), "0");
  EXPECT_EQ(open_batches(*one), 0U);
  EXPECT_EQ(open_batches(*other), 0U);
}

// Settled elsewhere although it was claimed to be settled here: a reaper of another process did it.
TEST_F(PostgresClaim, WhatAnotherProcessTookBackIsForgotten) {
  const auto one = open();
  const auto other = open();
  session.must(insert(3, "slow.job"));
  const auto claimed = one->claim({.worker = "w", .ttl = std::chrono::milliseconds{1}});
  ASSERT_TRUE(claimed);
  ASSERT_EQ(claimed->size(), 3U);
  std::vector<store::ExpiredClaim> expired;
  while (expired.size() < 3) expired = *other->expired_claims(10);
  std::vector<store::SettleItem> items;
  for (const auto& claim : expired) items.push_back({claim.claim, settle(0, Outcome::expired(), {}, 0.5), {}, {}});
  ASSERT_EQ(other->settle(items)->settled, 3);
  EXPECT_EQ(session.must("select count(*) from core.claims").value(), "0");
  EXPECT_EQ(open_batches(*one), 0U) << "its time has run out";
}

TEST_F(PostgresClaim, PartsOfABatchThatIsStillInFlightKeepItsClaim) {
  const auto one = open();
  const auto other = open();
  session.must(insert(2, "pull.keyless"));
  const auto claimed = one->claim({.worker = "w", .settled_here = false});
  ASSERT_EQ(claimed->size(), 2U);
  deliver(*other, {claimed->front()});
  EXPECT_EQ(session.must("select count(*) from core.claims").value(), "1");
  deliver(*one, {claimed->back()});
  EXPECT_EQ(session.must("select count(*) from core.claims").value(), "0");
}

TEST_F(PostgresClaim, MarksOfGroupsThatAreGoneArePruned) {
  const auto store = open();
  session.must(insert(50, "demo.hello"));
  drain_until_low_is(*store, "50");
  session.must("insert into core.claim_heads (group_key, head) values ('1', 50), ('7|gone', 9)");
  session.must("insert into core.claim_cursors (group_key, low, generation) values ('7|gone', 9, 7)");
  session.must("update core.claim_cursors set saved_at = now() - interval '8 days'");
  const auto pruned = store->prune({});
  ASSERT_TRUE(pruned) << pruned.error().message;
  EXPECT_EQ(pruned->cursors, 1) << "not the one that this process uses, nor the floor of the keys";
  EXPECT_EQ(session.must("select string_agg(group_key, ',' order by group_key) from core.claim_cursors").value(), ",1");
  EXPECT_EQ(session.must("select string_agg(group_key, ',') from core.claim_heads").value(), "1");

  // Another process, which does not use it; the group comes back and finds what is new.
  session.must("update core.claim_cursors set saved_at = now() - interval '8 days'");
  EXPECT_EQ(open()->prune({})->cursors, 1);
  session.must(insert(3, "demo.hello"));
  const auto back = open();
  EXPECT_EQ(claim(*back).size(), 3U);
}

// What a process knows of a backlog is still true when the broker has had its turn: nothing waits for a rescan.
TEST_F(PostgresClaim, AClaimThatTheRelayRefusesEndsAndForgetsNothing) {
  const auto store = open(4, std::chrono::hours{1});
  session.must(insert(5000, "a"));
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) select 'a', 'worlds', 1, '{}', "
      "'k' from generate_series(1, 2)");
  std::size_t claimed = 0;
  for (int claims = 0; claims < 4; ++claims) {
    const auto events = claim(*store, 100);
    claimed += events.size();
    deliver(*store, events);
  }
  ASSERT_EQ(claimed, 400U) << "in stretches of its own by now";
  const store::Actor alice{"alice", "test", "for the test"};
  ASSERT_TRUE(store->switch_relay(store::RelayState::on, "nats", alice));
  EXPECT_TRUE(claim(*store, 100).empty());
  EXPECT_TRUE(claim(*store, 100).empty());
  ASSERT_TRUE(store->switch_relay(store::RelayState::off, "", alice));
  for (auto events = claim(*store, 100); !events.empty(); events = claim(*store, 100)) {
    claimed += events.size();
    deliver(*store, events);
  }
  EXPECT_EQ(claimed, 5002U);
}

}  // namespace
}  // namespace sluice::test
