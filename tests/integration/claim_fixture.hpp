// A database, stores on it that claim, and a session that sees what they do.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/postgres/postgres_store.hpp"
#include "tests/support/postgres_database.hpp"

namespace sluice::test {

class PostgresClaim : public testing::Test {
 protected:
  std::unique_ptr<store::Store> open(int connections = 4, Duration sweep = {}, std::optional<Duration> dear_look = {}) {
    store::PostgresOptions options;
    if (dear_look) options.dear_look = *dear_look;
    options.dsn = database.url();
    options.max_connections = connections;
    options.sweep_interval = sweep;
    auto opened = store::open_postgres(options);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return std::move(opened).value();
  }
  static std::vector<store::ClaimedEvent> claim(store::Store& store, int limit = 100) {
    auto claimed = store.claim({.worker = "w", .limit = limit});
    EXPECT_TRUE(claimed) << (claimed ? "" : claimed.error().message);
    return claimed ? std::move(claimed).value() : std::vector<store::ClaimedEvent>{};
  }
  static void deliver(store::Store& store, const std::vector<store::ClaimedEvent>& events) {
    std::vector<store::SettleItem> items;
    for (const auto& event : events)
      items.push_back({.claim = event.claim, .settlement = {}, .handled_by = {}, .idempotency_key = {}});
    const auto report = store.settle(items);
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_TRUE(report->fenced.empty());
  }
  // Any writing transaction of the whole server holds the mark back, those of other tests too.
  std::string drain_until_low_is(store::Store& store, const std::string& wanted) {
    std::string low;
    for (int tries = 0; tries < 200'000 && low != wanted; ++tries) {
      deliver(store, claim(store));
      low = session.must("select low from core.claim_cursors where group_key = '1'").value();
    }
    EXPECT_EQ(low, wanted) << session
                                  .must(
                                      "select coalesce(string_agg(concat_ws(' ', datname, pid, state, xact_start, "
                                      "query), E'\\n'), 'nobody writes') "
                                      "from pg_stat_activity where backend_xid is not null and pid <> pg_backend_pid()")
                                  .value();
    return low;
  }
  static std::string insert(int count, const std::string& type) {
    return "insert into core.outbox (event_type, source, generation, payload) select '" + type +
           "', 'worlds', 1, '{}' from generate_series(1, " + std::to_string(count) + ")";
  }
  std::string count(const std::string& where) {
    return session.must("select count(*) from core.outbox where " + where).value();
  }

  /// From here on notices() has the plan of each statement, those inside functions included.
  void explain_everything() {
    session.must("load 'auto_explain'");
    session.must(
        "set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on; set "
        "auto_explain.log_level = notice; set client_min_messages = notice");
  }

  PostgresDatabase database;
  SqlSession session{database.url()};
};

}  // namespace sluice::test
