#include "runtime/ladder.hpp"

#include <gmock/gmock.h>

#include "runtime/supervisor.hpp"
#include "tests/support/faulty_store.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

class LadderLogTest : public testing::Test {
 protected:
  std::vector<LadderSample> history() { return store->ladder_history().value(); }
  std::int64_t counted() {
    std::int64_t sum = 0;
    for (const LadderSample& sample : history()) {
      for (const std::int64_t events : sample.latencies) sum += events;
    }
    return sum;
  }
  void deliver_everything() {
    ASSERT_TRUE(worker.step());
    ASSERT_TRUE(worker.step());
  }

  ManualClock clock;
  TestStore store{[this] { return clock.now(); }};
  telemetry::Registry registry;
  telemetry::MetricSet metrics{registry};
  ScriptedHandler handler;
  TestWorker worker{*store, handler.handlers(), {}, worker_options(), {}, &metrics};
  LadderLog log{*store, *store, metrics};
};

TEST_F(LadderLogTest, WritesEachDeliveryOnce) {
  store.publish({test::an_event(), test::an_event()});
  deliver_everything();
  ASSERT_TRUE(log.step());
  EXPECT_EQ(counted(), 2);
  EXPECT_EQ(history().front().rows, 2);
  ASSERT_TRUE(log.step());
  log.flush();
  EXPECT_EQ(counted(), 2);
  store.publish({test::an_event()});
  deliver_everything();
  log.flush();
  EXPECT_EQ(counted(), 3);
}

TEST_F(LadderLogTest, WhatCouldNotBeWrittenIsWrittenLater) {
  store.publish({test::an_event()});
  deliver_everything();
  class Refusing final : public store::Maintaining {
   public:
    static Error away() { return {ErrorCode::unavailable, Retry::safe, "away", "", ""}; }
    Result<std::vector<store::ExpiredClaim>> expired_claims(int) override { return away(); }
    Result<std::vector<store::ExpiredClaim>> claims_held_by(const std::string&, int) override { return away(); }
    Result<store::RetentionReport> sweep_retention(const RetentionPolicies&, int, bool, const store::Actor&) override {
      return away();
    }
    Result<store::PruneReport> prune(const RetentionPolicies&) override { return away(); }
    Result<std::optional<store::PartitionChange>> keep_partitions(const RetentionPolicies&, bool,
                                                                  const store::Actor&) override {
      return away();
    }
    Result<store::PatrolStep> patrol(const store::PatrolRequest&) override { return away(); }
    Result<void> record_history(std::span<const HistoryRow>) override { return away(); }
    Result<void> record_ladder(const LadderSample& sample) override {
      offered.push_back(sample);
      return away();
    }
    std::vector<LadderSample> offered;
  } refusing;
  telemetry::Registry others;
  telemetry::MetricSet theirs{others};
  LadderLog unlucky{*store, refusing, theirs};
  theirs.delivery.first_attempt_latency->observe(0.3);
  EXPECT_FALSE(unlucky.step());
  EXPECT_FALSE(unlucky.step());
  ASSERT_EQ(refusing.offered.size(), 2U);
  EXPECT_EQ(refusing.offered[1].latencies, refusing.offered[0].latencies);
  EXPECT_FALSE(refusing.offered[1].latencies.empty());
}

TEST_F(LadderLogTest, ReplaysRetriesAndScheduledEventsDoNotCount) {
  store::NewEvent scheduled = test::an_event();
  scheduled.delay = 1h;
  const auto ids = store.publish({test::an_event(), scheduled});
  auto claimed = store->claim({.worker = "w", .limit = 1}).value();
  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_TRUE(claimed.front().fresh);
  store::SettleItem failed;
  failed.claim = claimed.front().claim;
  failed.settlement.next = Status::failed;
  failed.settlement.last_error = "Error: no";
  ASSERT_TRUE(store->settle(std::vector{failed}));
  ASSERT_TRUE(store->replay(ids.front(), 1, {"alice", "test", "again"}));
  clock.advance(2h);
  deliver_everything();
  EXPECT_EQ(handler.delivered().size(), 2U);
  EXPECT_EQ(metrics.delivery.handled_latency->snapshot().count(), 1U);
  EXPECT_EQ(metrics.delivery.replay_latency->snapshot().count(), 1U);
  EXPECT_EQ(metrics.delivery.first_attempt_latency->snapshot().count(), 0U);
}

TEST_F(LadderLogTest, ASupervisorWritesWhatItDeliveredWhenItStops) {
  store.publish({test::an_event()});
  SupervisorOptions options;
  options.worker = worker_options();
  options.worker.identity = "test:2";
  ScriptedHandler other;
  auto supervisor = Supervisor::start(*store, other.handlers(), {}, options);
  ASSERT_TRUE(supervisor);
  other.await(1);
  (*supervisor)->request_stop();
  (*supervisor)->join();
  EXPECT_EQ(counted(), 1) << "without metrics of the caller's";
}

TEST_F(LadderLogTest, ASampleOfAServerReadsNoEvents) {
  class Server final : public test::FaultyStore {
   public:
    using FaultyStore::FaultyStore;
    Result<store::Diagnosis> diagnose(store::DiagnosisDepth) override {
      store::Diagnosis diagnosis;
      diagnosis.server.emplace().outbox = store::TableFacts{.live_rows = 7};
      return diagnosis;
    }
  } server{*store};
  server.fail_verb("gauges", {ErrorCode::unavailable, Retry::safe, "walks over every event", "", ""});
  LadderLog of_server{server, server, metrics};
  ASSERT_TRUE(of_server.step());
  EXPECT_EQ(history().front().rows, 7);
}

TEST(LadderSampleOf, TakesTheOldestSnapshotOfTheServer) {
  store::Diagnosis diagnosis;
  diagnosis.server.emplace();
  diagnosis.server->outbox = store::TableFacts{.live_rows = 7, .dead_rows = 3};
  diagnosis.server->notify = store::NotifyFacts{.queue_usage = 0.5};
  diagnosis.server->xmin.emplace();
  EXPECT_EQ(sample_of(diagnosis).snapshot_seconds, 0);
  diagnosis.server->xmin->push_back({.session = {.transaction_age = 90s}});
  diagnosis.server->xmin->push_back({.kind = store::XminHolder::Kind::slot, .transactions = 9});
  const LadderSample sample = sample_of(diagnosis);
  EXPECT_EQ(sample.rows, 7);
  EXPECT_EQ(sample.dead_rows, 3);
  EXPECT_EQ(sample.notify_queue, 0.5);
  EXPECT_EQ(sample.snapshot_seconds, 90);
}

}  // namespace
}  // namespace sluice::runtime
