// Four threads of one process start on a backlog with the database some milliseconds away: each holds what it has read
// while the others go on.
#include <gtest/gtest.h>

#include <atomic>

#include "store/postgres/postgres_store.hpp"
#include "tests/support/postgres_database.hpp"
#include "tests/support/tcp_gate.hpp"

namespace sluice::test {
namespace {

constexpr int kEvents = 400;
constexpr int kMostVain = 2000;

TEST(InterleavedThreads, LeaveNothingOfABacklogBehind) {
  for (const bool keyed : {true, false}) {
    const PostgresDatabase database;
    SqlSession session{database.url()};
    session.must("insert into core.subscriptions (generation, handler_name, event_types) values (1, 'x.all', '{x.*}')");
    session.must(
        "insert into core.outbox (event_type, source, generation, ordering_key) select 'x.happened', 'tests', 1, case "
        "when " +
        std::string{keyed ? "n % 4 = 0" : "false"} + " then 'k' || n % 24 end from generate_series(1, " +
        std::to_string(kEvents) + ") n");

    std::string url = database.url();
    const std::size_t colon = url.rfind(':') + 1;
    const std::size_t slash = url.rfind('/');
    TcpGate gate{std::stoi(url.substr(colon, slash - colon))};
    gate.delay(std::chrono::milliseconds{3}, std::chrono::milliseconds{1});
    store::PostgresOptions options;
    options.dsn = url.replace(colon, slash - colon, std::to_string(gate.port()));
    options.sweep_interval = std::chrono::milliseconds{20};
    const auto store = store::open_postgres(options);
    ASSERT_TRUE(store) << store.error().message;

    std::atomic<int> delivered = 0;
    {
      std::vector<std::jthread> threads;
      for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
          for (int vain = 0; delivered < kEvents && vain < kMostVain; ++vain) {
            const auto events = (*store)->claim(
                {.worker = "w/" + std::to_string(thread), .limit = 10, .interests = {Interest{.event_type = "x.*"}}});
            ASSERT_TRUE(events) << events.error().message;
            std::vector<store::SettleItem> items;
            for (const auto& event : *events)
              items.push_back({.claim = event.claim, .settlement = {}, .handled_by = {}, .idempotency_key = {}});
            if (items.empty()) continue;
            const auto report = (*store)->settle(items);
            ASSERT_TRUE(report) << report.error().message;
            delivered += report->settled;
            vain = 0;
          }
        });
      }
    }
    EXPECT_EQ(session.must("select count(*) from core.outbox where status <> 'delivered'").value(), "0") << keyed;
    EXPECT_EQ(session.must("select count(*) from core.outbox where claim_seq <> 1").value(), "0") << keyed;
    EXPECT_EQ(session.must("select count(*) from core.keys_in_flight").value(), "0") << keyed;
  }
}

}  // namespace
}  // namespace sluice::test
