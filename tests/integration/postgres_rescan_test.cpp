// Threads of one process that go back over what the scan has passed: one reads everything, the others need not wait for
// it.
#include <gtest/gtest.h>

#include <future>

#include "store/postgres/postgres_store.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {
namespace {

class PostgresRescan : public testing::Test {
 protected:
  std::unique_ptr<store::Store> open() {
    store::PostgresOptions options;
    options.dsn = database.url();
    options.max_connections = 4;
    options.sweep_interval = {};
    options.application_name = "rescan";
    auto opened = store::open_postgres(options);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return std::move(opened).value();
  }
  static std::future<std::size_t> claim(store::Store& store) {
    return std::async(std::launch::async, [&store] {
      const auto claimed = store.claim({.worker = "w", .limit = 100});
      EXPECT_TRUE(claimed) << (claimed ? "" : claimed.error().message);
      return claimed ? claimed->size() : 0;
    });
  }
  static bool is_ready(const std::future<std::size_t>& claimed) {
    return claimed.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
  }
  /// How many connections of the store wait for a lock.
  int waiting() {
    return std::stoi(session
                         .must("select count(*) from pg_stat_activity where datname = current_database() and "
                               "application_name = 'rescan' and wait_event_type = 'Lock'")
                         .value());
  }
  void insert() {
    session.must("insert into core.outbox (event_type, source, generation, payload) values ('a', 'worlds', 1, '{}')");
  }

  /// Rescans wait from here on for as long as `holder` is in its transaction.
  void hold_rescans(SqlSession& holder) {
    session.must("alter function core.claim_cursor_advance(text, bigint, text[]) rename to advance_at_once");
    session.must(
        "create function core.claim_cursor_advance(p_group text, p_generation bigint, p_interests text[]) "
        "returns table (low bigint, first_open bigint, upto bigint, busy boolean) language plpgsql as $$ begin "
        "perform pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1); "
        "return query select * from core.advance_at_once(p_group, p_generation, p_interests); end $$");
    holder.must("begin");
    holder.must("select pg_advisory_xact_lock(1)");
  }

  PostgresDatabase database;
  SqlSession session{database.url()};
};

TEST_F(PostgresRescan, OneThreadReadsEverythingAndTheOthersGoOn) {
  const auto store = open();
  insert();
  ASSERT_EQ(claim(*store).get(), 1U);
  // Held up in the middle of its rescan.
  SqlSession holder{database.url()};
  hold_rescans(holder);
  auto rescan = claim(*store);
  while (waiting() < 1 && !is_ready(rescan)) {
  }
  ASSERT_FALSE(is_ready(rescan)) << "it was to wait for the lock";
  insert();
  auto another = claim(*store);
  while (waiting() < 2 && !is_ready(another)) {
  }
  const bool went_on = is_ready(another);
  holder.must("rollback");
  EXPECT_TRUE(went_on) << "the second thread waited for the first one's rescan";
  EXPECT_EQ(rescan.get() + another.get(), 1U);
}

// What a thread leaves to the one that reads everything is not forgotten: the store owes another rescan.
TEST_F(PostgresRescan, WhoLeavesItToAnotherThreadComesBack) {
  const auto store = open();
  SqlSession late{database.url()};
  late.must("begin");
  late.must("insert into core.outbox (event_type, source, generation, payload) values ('late', 'worlds', 1, '{}')");
  insert();
  ASSERT_EQ(claim(*store).get(), 1U);
  SqlSession holder{database.url()};
  hold_rescans(holder);
  auto rescan = claim(*store);
  while (waiting() < 1 && !is_ready(rescan)) {
  }
  ASSERT_EQ(claim(*store).get(), 0U);
  late.must("commit");
  holder.must("rollback");
  std::size_t found = rescan.get();
  for (int tries = 0; tries < 100 && found == 0; ++tries) found = claim(*store).get();
  EXPECT_EQ(found, 1U);
}

// Two services share a key: the one whose event was parked behind the other's is told when its turn has come.
TEST_F(PostgresRescan, WhoServesAnEventThatWasParkedIsNotified) {
  session.must(
      "select core.subscribe(1, array['a.h', 'b.h'], '[[\"a\"], [\"b\"]]', array[null, null]::text[], "
      "array[null, null]::text[])");
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) "
      "select t, 'worlds', 1, '{}', 'k' from unnest(array['a', 'b']) t");
  const auto store = open();
  const auto claim_of = [&](const char* type) {
    auto claimed = store->claim({.worker = "w", .interests = {{.event_type = type}}});
    EXPECT_TRUE(claimed) << (claimed ? "" : claimed.error().message);
    return claimed ? *std::move(claimed) : std::vector<store::ClaimedEvent>{};
  };
  const auto first = claim_of("a");
  ASSERT_EQ(first.size(), 1U);
  while (session.must("select blocked_since is not null from core.outbox where event_type = 'b'").value() != "t") {
    ASSERT_TRUE(claim_of("b").empty());
  }
  SqlSession listener{database.url()};
  listener.must("listen outbox_gen_1");
  ASSERT_TRUE(store->settle(std::vector<store::SettleItem>{
      {.claim = first.front().claim, .settlement = {}, .handled_by = {}, .idempotency_key = {}}}));
  EXPECT_TRUE(listener.wait_notification());
  EXPECT_EQ(claim_of("b").size(), 1U);
}

}  // namespace
}  // namespace sluice::test
