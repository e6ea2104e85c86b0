// A store whose threads can be held up in the middle of a claim.
#pragma once

#include <gtest/gtest.h>

#include <future>

#include "store/postgres/postgres_store.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {

class PostgresRescan : public testing::Test {
 protected:
  std::unique_ptr<store::Store> open(Duration sweep = {}, std::optional<Duration> dear = {}) {
    store::PostgresOptions options;
    if (dear) options.dear_look = *dear;
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

}  // namespace sluice::test
