// What claims promise when the server crashes before a commit that did not wait for the disk was written: the events
// are found again, and who held them before holds them no longer.
#include <gtest/gtest.h>
#include <signal.h>

#include <utility>

#include "store/postgres/postgres_store.hpp"
#include "tests/support/postgres_database.hpp"
#include "tests/support/postgres_server.hpp"

namespace sluice::test {
namespace {

class PostgresCrash : public testing::Test {
 protected:
  PostgresCrash() {
    store::PostgresOptions options = options_for({});
    options.check_schema = false;
    auto opened = store::open_postgres(options);
    if (!opened || !(*opened)->migrate()) throw std::runtime_error("no schema");
    // Nobody but who waits for a commit writes the log to disk from here on.
    log_writer = std::stoi(
        SqlSession{server.url()}.must("select pid from pg_stat_activity where backend_type = 'walwriter'").value());
    if (::kill(log_writer, SIGSTOP) != 0) throw std::runtime_error("the log writer cannot be stopped");
  }
  // A stopped process would hold up the server's end.
  ~PostgresCrash() override { kill_log_writer(); }

  void kill_log_writer() {
    if (log_writer != 0) ::kill(std::exchange(log_writer, 0), SIGKILL);
  }
  void crash() {
    kill_log_writer();
    server.crash_and_restart();
  }

  store::PostgresOptions options_for(Duration sweep) const {
    store::PostgresOptions options;
    options.dsn = server.url();
    options.max_connections = 2;
    options.sweep_interval = sweep;
    return options;
  }
  std::unique_ptr<store::Store> open() {
    auto opened = store::open_postgres(options_for({}));
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return std::move(opened).value();
  }
  void publish(int count) {
    // Waits for the disk, and with it all that was committed before.
    SqlSession{server.url()}.must(
        "insert into core.outbox (event_type, source, generation, payload) select 'a', 'worlds', 1, '{}' from "
        "generate_series(1, " +
        std::to_string(count) + ")");
  }
  std::string pending() {
    return SqlSession{server.url()}.must("select count(*) from core.outbox where status = 'pending'").value();
  }
  static std::vector<store::ClaimedEvent> claim(store::Store& store, int limit = 10) {
    auto claimed = store.claim({.worker = "w", .limit = limit});
    EXPECT_TRUE(claimed) << (claimed ? "" : claimed.error().message);
    return claimed ? std::move(claimed).value() : std::vector<store::ClaimedEvent>{};
  }
  static std::int64_t pending_in(store::Store& store) {
    for (int tries = 0; tries < 10; ++tries) {
      const auto status = store.status();
      if (!status) continue;
      std::int64_t count = 0;
      for (const auto& each : status->counts) count += each.status == Status::pending ? each.count : 0;
      return count;
    }
    return -1;
  }
  // A connection that the crash broke may be noticed only when it is used.
  static std::vector<store::ClaimedEvent> claim_after_crash(store::Store& store) {
    for (int tries = 0; tries < 10; ++tries) {
      auto claimed = store.claim({.worker = "w", .limit = 10});
      if (claimed && !claimed->empty()) return std::move(claimed).value();
    }
    return {};
  }
  static store::SettleItem delivered(const store::ClaimedEvent& event) {
    return {.claim = event.claim, .settlement = {}, .handled_by = {}, .idempotency_key = {}};
  }

  PostgresServer server{"-c autovacuum=off -c bgwriter_lru_maxpages=0"};
  pid_t log_writer = 0;
};

TEST_F(PostgresCrash, EventsWhoseClaimWasForgottenAreFoundAgain) {
  const auto store = open();
  publish(3);
  ASSERT_EQ(claim(*store).size(), 3U);
  // Nothing is left, says the scan behind the head, and the scan moves on.
  for (int looks = 0; looks < 3; ++looks) EXPECT_TRUE(claim(*store).empty());
  crash();
  ASSERT_EQ(pending(), "3") << "the server has forgotten the claim";
  EXPECT_EQ(claim_after_crash(*store).size(), 3U);
}

TEST_F(PostgresCrash, EventsWhoseClaimWasForgottenAreCountedAsPending) {
  const auto store = open();
  publish(3);
  ASSERT_EQ(claim(*store).size(), 3U);
  for (int looks = 0; looks < 3; ++looks) ASSERT_EQ(pending_in(*store), 0);
  crash();
  ASSERT_EQ(pending(), "3") << "the server has forgotten the claim";
  EXPECT_EQ(pending_in(*store), 3);
}

TEST_F(PostgresCrash, AForgottenClaimIsFencedThoughItsNumberIsGivenOutAgain) {
  const auto before = open();
  publish(1);
  const auto forgotten = claim(*before);
  ASSERT_EQ(forgotten.size(), 1U);
  crash();
  ASSERT_EQ(pending(), "1") << "the server has forgotten the claim";
  const auto after = open();
  const auto held = claim(*after);
  ASSERT_EQ(held.size(), 1U);
  ASSERT_EQ(held[0].claim.claim_seq, forgotten[0].claim.claim_seq);

  const auto lost = after->heartbeat(std::vector{forgotten[0].claim}, std::chrono::minutes{1});
  ASSERT_TRUE(lost) << lost.error().message;
  EXPECT_EQ(lost->size(), 1U);
  const auto late = after->settle(std::vector{delivered(forgotten[0])});
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_EQ(late->fenced.size(), 1U);
  store::SettleItem failure = delivered(forgotten[0]);
  failure.settlement.next = Status::failed;
  failure.settlement.records_error = true;
  failure.settlement.last_error = "late";
  failure.settlement.error_class = "E";
  const auto late_failure = after->settle(std::vector{failure});
  ASSERT_TRUE(late_failure) << late_failure.error().message;
  EXPECT_EQ(late_failure->fenced.size(), 1U);

  const auto renewed = after->heartbeat(std::vector{held[0].claim}, std::chrono::minutes{1});
  ASSERT_TRUE(renewed && renewed->empty());
  const auto settled = after->settle(std::vector{delivered(held[0])});
  ASSERT_TRUE(settled) << settled.error().message;
  EXPECT_EQ(settled->settled, 1);
}

TEST_F(PostgresCrash, OneForgottenClaimDoesNotFenceTheOthersOfACall) {
  const auto store = open();
  publish(1);
  const auto forgotten = claim(*store);
  ASSERT_EQ(forgotten.size(), 1U);
  crash();
  ASSERT_EQ(pending(), "1") << "the server has forgotten the claim";
  publish(1);
  const auto after = open();
  const auto held = claim(*after);
  ASSERT_EQ(held.size(), 2U);
  const auto& other = held[0].claim.event_id == forgotten[0].claim.event_id ? held[1] : held[0];
  const auto report = after->settle(std::vector{delivered(forgotten[0]), delivered(other)});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->settled, 1);
  EXPECT_EQ(report->fenced, std::vector{forgotten[0].claim.event_id});
}

}  // namespace
}  // namespace sluice::test
