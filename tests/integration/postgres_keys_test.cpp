// Events of ordering keys among others: what was passed over is claimed when its turn comes, and takes no more than its
// share.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/integration/claim_fixture.hpp"

namespace sluice::test {
namespace {

// Each event of the key is passed over by the scan; a rescan would find it, but somebody holds its row.
TEST_F(PostgresClaim, WhatWaitedForAKeyIsTakenWithoutALookBack) {
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) select 'a', 'worlds', 1, '{}', "
      "'k' from "
      "generate_series(1, 6)");
  session.must("select core.subscribe(1, array['worlds.h'], '[[\"*\"]]', array[null]::text[], array[null]::text[])");
  const auto store = open(4, std::chrono::hours{1});
  auto events = claim(*store);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(claim(*store).empty());
  session.must("begin");
  session.must("select from core.claim_cursors where group_key = '1' for update");
  for (int number = 2; number <= 6; ++number) {
    // In turn by itself and within a handler's transaction.
    if (number % 2 == 0) {
      deliver(*store, events);
    } else {
      auto effect = store->begin_effect(std::chrono::seconds{60});
      ASSERT_TRUE(effect) << effect.error().message;
      const std::vector<store::SettleItem> items{
          {.claim = events.front().claim, .settlement = {}, .handled_by = {}, .idempotency_key = {}}};
      ASSERT_TRUE((*effect)->settle(items, std::nullopt));
      EXPECT_TRUE(claim(*store).empty()) << "not committed yet";
      ASSERT_TRUE((*effect)->commit());
    }
    events = claim(*store);
    ASSERT_EQ(events.size(), 1U) << number;
    EXPECT_EQ(session.must("select seq from core.outbox where status = 'in_flight'").value(), std::to_string(number));
  }
}

// Long chains of keys hold up nobody: half of a claim is for new events, as long as there are some.
TEST_F(PostgresClaim, WhatWaitedForAKeyTakesHalfOfAClaimWhileOthersLieAhead) {
  const std::string of_keys =
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) "
      "select 'keyed', 'worlds', 1, '{}', 'k' || n from generate_series(1, 10) n";
  session.must("select core.subscribe(1, array['worlds.h'], '[[\"*\"]]', array[null]::text[], array[null]::text[])");
  session.must(of_keys);
  session.must(of_keys);
  session.must(insert(500, "plain"));
  const auto store = open(4, std::chrono::hours{1});
  // The first of each key, and new ones from behind those that wait for them.
  const auto first = claim(*store, 20);
  ASSERT_EQ(first.size(), 20U);
  deliver(*store, first);
  for (int part = 1; part <= 2; ++part) {
    const auto events = claim(*store, 10);
    EXPECT_EQ(std::count_if(events.begin(), events.end(),
                            [](const auto& event) { return event.envelope.event_type() == "keyed"; }),
              5)
        << part;
    EXPECT_GE(events.size(), 8U) << part;
  }
}

// Workers whose handlers are slow claim one event at a time.
TEST_F(PostgresClaim, OneEventAtATimeAKeyTakesEverySecondClaimWhileOthersLieAhead) {
  session.must("select core.subscribe(1, array['worlds.h'], '[[\"*\"]]', array[null]::text[], array[null]::text[])");
  const std::string of_key =
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) "
      "select 'keyed', 'worlds', 1, '{}', 'k' from generate_series(1, ";
  for (const bool parked : {false, true}) {
    session.must("delete from core.outbox");
    session.must(of_key + "1)");
    session.must(insert(20, "plain"));
    session.must(of_key + "20)");
    // Each delivery makes the next one due.
    const std::string park =
        "update core.outbox set retry_after = now() + interval '10 minutes', blocked_since = now() ";
    if (parked) session.must(park + "where seq > (select min(seq) from core.outbox) and ordering_key is not null");
    const auto store = open(4, std::chrono::hours{1});
    int keyed = 0;
    for (int part = 1; part <= 12; ++part) {
      const auto events = claim(*store, 1);
      ASSERT_EQ(events.size(), 1U) << part;
      keyed += events.front().envelope.event_type() == "keyed" ? 1 : 0;
      deliver(*store, events);
    }
    EXPECT_GE(keyed, 4) << (parked ? "parked" : "passed over");
    EXPECT_LE(keyed, 8) << (parked ? "parked" : "passed over");
  }
}

// What is due is not forgotten when nothing new is found instead of it.
TEST_F(PostgresClaim, OneEventAtATimeWhatIsDueIsTakenWhereWhatIsNewWaits) {
  session.must("select core.subscribe(1, array['worlds.h'], '[[\"*\"]]', array[null]::text[], array[null]::text[])");
  const auto store = open(4, std::chrono::hours{1});
  session.must(insert(4, "plain"));
  ASSERT_EQ(claim(*store, 1).size(), 1U);
  SqlSession holder{database.url()};
  holder.must("begin");
  holder.must("select from core.outbox where status = 'pending' for update");
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, retry_after) "
      "select 'due', 'worlds', 1, '{}', now() - interval '1 ms' from generate_series(1, 4)");
  for (int part = 1; part <= 4; ++part) EXPECT_EQ(claim(*store, 1).size(), 1U) << part;
}

// Keys are released by the batch only where the batch says so: a plain UPDATE releases its own.
TEST_F(PostgresClaim, APlainUpdateReleasesItsKey) {
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) select 'a', 'worlds', 1, '{}', "
      "'k' from "
      "generate_series(1, 2)");
  const auto store = open();
  ASSERT_EQ(claim(*store).size(), 1U);
  session.must("update core.outbox set status = 'delivered', delivered_at = now() where status = 'in_flight'");
  EXPECT_EQ(session.must("select count(*) from core.keys_in_flight").value(), "0");
  EXPECT_EQ(claim(*store).size(), 1U);
}

}  // namespace
}  // namespace sluice::test
