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
  std::unique_ptr<store::Store> open(Duration sweep = {}) {
    store::PostgresOptions options;
    options.dsn = database.url();
    options.max_connections = 4;
    options.sweep_interval = sweep;
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

  /// Rescans do this first from here on.
  void begin_rescans_with(const std::string& statement) {
    session.must("alter function core.claim_cursor_advance(text, bigint, text[]) rename to advance_at_once");
    session.must(
        "create function core.claim_cursor_advance(p_group text, p_generation bigint, p_interests text[]) "
        "returns table (low bigint, first_open bigint, upto bigint, busy boolean) language plpgsql as $$ begin " +
        statement + "; return query select * from core.advance_at_once(p_group, p_generation, p_interests); end $$");
  }
  void let_rescans_be() {
    session.must("drop function core.claim_cursor_advance(text, bigint, text[])");
    session.must("alter function core.advance_at_once(text, bigint, text[]) rename to claim_cursor_advance");
  }
  /// Rescans wait from here on for as long as `holder` is in its transaction.
  void hold_rescans(SqlSession& holder) {
    begin_rescans_with("perform pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1)");
    holder.must("begin");
    holder.must("select pg_advisory_xact_lock(1)");
  }
  void insert_due(const std::string& when) {
    session.must(
        "insert into core.outbox (event_type, source, generation, payload, retry_after, ordering_key) "
        "values ('due', 'worlds', 1, '{}', " +
        when + ", case when " + when + " < now() then 'k' end)");
  }
  /// Whoever meets a due event with an ordering key does this first.
  void begin_looks_at_due_with(const std::string& statement) {
    session.must(
        "create or replace function core.outbox_blocker(p_key text, p_seq bigint, p_id uuid) returns uuid "
        "language plpgsql volatile as $$ begin " +
        statement + "; return null; end $$");
  }
  /// A look at all that is due which finds one, and does not end before `holder` ends its transaction.
  std::future<std::size_t> begin_a_look(store::Store& store, SqlSession& holder) {
    insert_due("now() - interval '1 hour'");
    begin_looks_at_due_with("perform pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1)");
    holder.must("begin");
    holder.must("select pg_advisory_xact_lock(1)");
    auto look = claim(store);
    while (waiting() < 1 && !is_ready(look)) {
    }
    return look;
  }
  static std::vector<store::ClaimedEvent> claim_of(store::Store& store, const std::string& type,
                                                   std::vector<std::string> handlers = {}) {
    auto claimed = store.claim({.worker = "w", .interests = {{.event_type = type}}, .handlers = std::move(handlers)});
    EXPECT_TRUE(claimed) << (claimed ? "" : claimed.error().message);
    return claimed ? *std::move(claimed) : std::vector<store::ClaimedEvent>{};
  }
  static void settle(store::Store& store, const store::ClaimedEvent& event, const Settlement& settlement = {}) {
    const auto report = store.settle(std::vector<store::SettleItem>{
        {.claim = event.claim, .settlement = settlement, .handled_by = {}, .idempotency_key = {}}});
    ASSERT_TRUE(report) << report.error().message;
  }
  static bool is_owed(store::Store& store, const std::vector<std::string>& handlers) {
    const auto due = store.next_due(1, handlers);
    EXPECT_TRUE(due) << (due ? "" : due.error().message);
    return due && due->has_value();
  }
  /// Two services with one ordering key: an event of type a, then one of type b.
  void insert_of_one_key() {
    session.must(
        "select core.subscribe(1, array['a.h', 'b.h'], '[[\"a\"], [\"b\"]]', array[null, null]::text[], "
        "array[null, null]::text[])");
    session.must(
        "insert into core.outbox (event_type, source, generation, payload, ordering_key) "
        "select t, 'worlds', 1, '{}', 'k' from unnest(array['a', 'b']) t");
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

// A rescan that failed is over: the next one is not left to it.
TEST_F(PostgresRescan, AfterARescanThatFailedTheNextOneReadsEverything) {
  const auto store = open();
  SqlSession late{database.url()};
  late.must("begin");
  late.must("insert into core.outbox (event_type, source, generation, payload) values ('late', 'worlds', 1, '{}')");
  insert();
  ASSERT_EQ(claim(*store).get(), 1U);
  begin_rescans_with("raise exception 'the disk is full' using errcode = '53100'");
  EXPECT_EQ(claim(*store).get(), 0U);
  let_rescans_be();
  late.must("commit");
  EXPECT_EQ(claim(*store).get(), 1U);
}

// Whoever claims is told of the rescan that it is owed, however its handlers are listed; others are not, who would
// claim in vain again and again.
TEST_F(PostgresRescan, WhatIsOwedIsOwedToWhoClaims) {
  const auto store = open(std::chrono::hours{1});
  SqlSession late{database.url()};
  late.must("begin");
  late.must("insert into core.outbox (event_type, source, generation, payload) values ('a', 'worlds', 1, '{}')");
  insert();
  while (!claim_of(*store, "a", {"x.two", "x.one"}).empty()) {
  }
  EXPECT_TRUE(is_owed(*store, {"x.two", "x.one"}));
  EXPECT_TRUE(is_owed(*store, {"x.one", "x.two"}));
  EXPECT_TRUE(is_owed(*store, {})) << "asked for everybody";
  EXPECT_FALSE(is_owed(*store, {"x.one"}));
  EXPECT_FALSE(is_owed(*store, {"y.other"}));
}

// The same for a look at all that is due, which was put off because the last one has only just been.
TEST_F(PostgresRescan, ALookAtWhatIsDueIsOwedToWhoClaims) {
  const auto store = open(std::chrono::hours{1});
  int claims = 0;
  do {
    ASSERT_TRUE(claim_of(*store, "a", {"x.two", "x.one"}).empty());
  } while (!is_owed(*store, {}) && ++claims < 100);
  EXPECT_TRUE(is_owed(*store, {"x.one", "x.two"}));
  EXPECT_FALSE(is_owed(*store, {"y.other"}));
}

// While one thread passes by all that was ever due, the others take what has become due meanwhile.
TEST_F(PostgresRescan, OneThreadLooksAtAllThatIsDueAndTheOthersGoOn) {
  const auto store = open(std::chrono::hours{1});
  SqlSession holder{database.url()};
  auto everything = begin_a_look(*store, holder);
  ASSERT_FALSE(is_ready(everything)) << "it was to wait for the lock";
  insert_due("now()");
  auto another = claim(*store);
  while (waiting() < 2 && !is_ready(another)) {
  }
  const bool went_on = is_ready(another);
  holder.must("rollback");
  EXPECT_TRUE(went_on) << "the second thread waited for the first one's look";
  EXPECT_EQ(everything.get(), 1U);
  EXPECT_EQ(another.get(), 1U);
}

/// A settle writes the time of its beginning; what makes looks dear makes commits slow.
TEST_F(PostgresRescan, AfterADearLookWhatWasCommittedLateIsLookedForFurtherBack) {
  const auto store = open(std::chrono::hours{1});
  SqlSession holder{database.url()};
  auto everything = begin_a_look(*store, holder);
  ASSERT_FALSE(is_ready(everything)) << "it was to wait for the lock";
  const auto held = std::chrono::steady_clock::now();
  const std::string before_the_look = "timestamptz '" +
                                      session
                                          .must(
                                              "select query_start - interval '260 ms' from pg_stat_activity "
                                              "where application_name = 'rescan' and wait_event_type = 'Lock'")
                                          .value() +
                                      "'";
  while (std::chrono::steady_clock::now() < held + std::chrono::milliseconds{100}) session.must("select 1");
  holder.must("rollback");
  EXPECT_EQ(everything.get(), 1U);
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, retry_after) values ('late', 'worlds', 1, "
      "'{}', " +
      before_the_look + ")");
  EXPECT_EQ(claim(*store).get(), 1U);
}

// A rescan holds what it cannot park until it ends, because the settle of the event before it is under way. That settle
// names the next event of the key, and whoever claims it by its name passes over what is held: the rescan has to take
// it itself.
TEST_F(PostgresRescan, WhatItHeldWhileASettleEndedItTakesItself) {
  const auto store = open();
  const std::string of_one_key =
      "insert into core.outbox (event_type, source, generation, payload, ordering_key) values ('a', 'worlds', 1, '{}', "
      "'k')";
  session.must("select core.subscribe(1, array['a.h'], '[[\"a\"]]', array[null]::text[], array[null]::text[])");
  session.must(of_one_key);
  ASSERT_EQ(claim(*store).get(), 1U);
  for (int i = 0; i < 2; ++i) session.must(of_one_key);
  SqlSession settling{database.url()};
  settling.must("begin");
  EXPECT_EQ(
      settling
          .must("select r.next_seq - o.seq from core.outbox o, core.outbox_acknowledge(array[o.ctid], o.occurred_at, "
                "o.occurred_at, array[o.id], array[o.claim_seq], '{}', '{}', (select value::bigint from core.settings "
                "where key = 'subscriptions_version'), true, true) r where o.status = 'in_flight'")
          .value(),
      "1");
  session.must(
      "create or replace function core.key_floor_advance(p_last bigint) returns void language plpgsql as $$ begin "
      "perform pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1); end $$");
  SqlSession holder{database.url()};
  holder.must("begin");
  holder.must("select pg_advisory_xact_lock(1)");
  auto rescan = claim(*store);
  while (waiting() < 1 && !is_ready(rescan)) {
  }
  ASSERT_FALSE(is_ready(rescan)) << "it was to wait for the lock";
  settling.must("commit");
  holder.must("rollback");
  EXPECT_EQ(rescan.get(), 1U);
}

// After a crash every thread opens a connection, one after the other, and each may be the first to know. One of them
// passes by all that was ever due; when it is through, one does so again, because claims may have been undone
// meanwhile.
TEST_F(PostgresRescan, OneThreadLooksAtAllThatIsDueWhileOthersReconnect) {
  const auto store = open(std::chrono::hours{1});
  SqlSession holder{database.url()};
  auto everything = begin_a_look(*store, holder);
  ASSERT_FALSE(is_ready(everything)) << "it was to wait for the lock";
  session.must(
      "insert into core.outbox (event_type, source, generation, payload, retry_after) "
      "values ('undone', 'worlds', 1, '{}', now() - interval '30 minutes')");
  // The first one opens a connection, the next one learns of it.
  std::size_t found = 0;
  bool all_went_on = true;
  for (int thread = 1; thread <= 3 && all_went_on; ++thread) {
    insert_due("now()");
    auto another = claim(*store);
    while (waiting() < 2 && !is_ready(another)) {
    }
    all_went_on = is_ready(another);
    if (!all_went_on) holder.must("rollback");
    found += another.get();
  }
  if (all_went_on) holder.must("rollback");
  EXPECT_TRUE(all_went_on) << "a thread waited for the first one's look";
  EXPECT_EQ(everything.get(), 1U);
  EXPECT_EQ(found, 3U);
  EXPECT_EQ(claim(*store).get(), 1U) << "what a crash may have undone meanwhile was not looked for";
}

TEST_F(PostgresRescan, AfterALookAtAllThatIsDueHasFailedTheNextOneMakesIt) {
  const auto store = open(std::chrono::hours{1});
  insert_due("now() - interval '1 hour'");
  begin_looks_at_due_with("raise exception 'the disk is full' using errcode = '53100'");
  EXPECT_FALSE(store->claim({.worker = "w"}));
  begin_looks_at_due_with("null");
  EXPECT_EQ(claim(*store).get(), 1U);
}

// Two services share a key: the one whose event was parked behind the other's is told when its turn has come.
TEST_F(PostgresRescan, WhoServesAnEventThatWasParkedIsNotified) {
  insert_of_one_key();
  const auto store = open();
  const auto first = claim_of(*store, "a");
  ASSERT_EQ(first.size(), 1U);
  while (session.must("select blocked_since is not null from core.outbox where event_type = 'b'").value() != "t") {
    ASSERT_TRUE(claim_of(*store, "b").empty());
  }
  SqlSession listener{database.url()};
  listener.must("listen outbox_gen_1");
  settle(*store, first.front());
  EXPECT_TRUE(listener.wait_notification());
  EXPECT_EQ(claim_of(*store, "b").size(), 1U);
}

// So is the one whose event nobody has looked at yet, when the one before it fails.
TEST_F(PostgresRescan, WhoServesTheNextEventOfAKeyIsNotifiedOfAFailure) {
  insert_of_one_key();
  const auto store = open();
  const auto first = claim_of(*store, "a");
  ASSERT_EQ(first.size(), 1U);
  SqlSession listener{database.url()};
  listener.must("listen outbox_gen_1");
  settle(*store, first.front(),
         {.next = Status::failed,
          .cause = Cause::fail,
          .counts_attempt = true,
          .records_error = true,
          .last_error = "Test: no",
          .error_class = "Test",
          .fingerprint = "test"});
  EXPECT_TRUE(listener.wait_notification());
  EXPECT_EQ(claim_of(*store, "b").size(), 1U);
}

}  // namespace
}  // namespace sluice::test
