// What a worker leaves behind: attempts in the log, minutes in the history.
#include "runtime/history.hpp"

#include <gmock/gmock.h>

#include "runtime/reaper.hpp"
#include "tests/support/faulty_store.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

class HistoryLogTest : public testing::Test {
 protected:
  TestWorker worker(ScriptedHandler& handler, WorkerOptions options = worker_options()) {
    return TestWorker{*store, handler.handlers(), {}, std::move(options), {}, &metrics};
  }
  std::vector<store::AttemptRecord> attempts(const Uuid& id) { return store->attempts_of(id).value(); }
  HistoryCounts sum(HistoryKind kind, const std::string& series = {}) {
    HistoryCounts all;
    for (const HistoryRow& row : store->history({true, clock.now() - 48h, clock.now() + 1h, kind, series}).value()) {
      all.add(row.counts);
    }
    return all;
  }

  ManualClock clock;
  TestStore store{[this] { return clock.now(); }};
  telemetry::Registry registry;
  telemetry::MetricSet metrics{registry};
  HistoryLog log{*store, metrics.history};
};

TEST_F(HistoryLogTest, AFirstSuccessIsNoAttemptInTheLog) {
  ScriptedHandler handler;
  TestWorker one = worker(handler);
  const auto ids = store.publish({test::an_event()});
  ASSERT_TRUE(one.step());
  EXPECT_THAT(attempts(ids[0]), IsEmpty());
}

TEST_F(HistoryLogTest, UnlessSuccessesAreAskedFor) {
  ScriptedHandler handler;
  WorkerOptions options = worker_options();
  options.record_successes = true;
  TestWorker one = worker(handler, options);
  const auto ids = store.publish({test::an_event()});
  ASSERT_TRUE(one.step());
  const auto kept = attempts(ids[0]);
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].attempt.outcome, AttemptOutcome::handled);
  EXPECT_EQ(kept[0].attempt.handler_name, "sluice.log");
  EXPECT_EQ(kept[0].attempt.worker, "test:1");
}

TEST_F(HistoryLogTest, FailuresAndTheSuccessThatEndsThemAreKept) {
  int calls = 0;
  Verdict busy = Verdict::failed("http_503", "busy");
  busy.response = {503, "come back later"};
  ScriptedHandler handler{[&](ScriptedHandler::Events events) {
    return std::vector<Verdict>(events.size(), ++calls < 3 ? busy : Verdict::handled());
  }};
  TestWorker one = worker(handler);
  const auto ids = store.publish({test::an_event()});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(one.step());
    clock.advance(10min);
  }
  const auto kept = attempts(ids[0]);
  ASSERT_THAT(kept, SizeIs(3));
  EXPECT_EQ(kept[0].attempt.status_code, 503);
  EXPECT_EQ(kept[0].attempt.response, "come back later");
  EXPECT_EQ(kept[0].attempt.error, "http_503: busy");
  EXPECT_GT(kept[1].attempt.started_at - kept[0].attempt.started_at, 9min);
  EXPECT_EQ(kept[2].attempt.outcome, AttemptOutcome::handled);
  EXPECT_EQ(store.event(ids[0]).attempts, 2);
}

TEST_F(HistoryLogTest, ADeferralIsNoAttempt) {
  ScriptedHandler handler{always(Verdict::defer_for(1min))};
  TestWorker one = worker(handler);
  const auto ids = store.publish({test::an_event()});
  ASSERT_TRUE(one.step());
  EXPECT_THAT(attempts(ids[0]), IsEmpty());
}

TEST_F(HistoryLogTest, ASuccessAfterDeferralsIsAFirstSuccess) {
  bool resting = true;
  ScriptedHandler handler{[&](ScriptedHandler::Events events) {
    return std::vector<Verdict>(events.size(), resting ? Verdict::defer_for(1min) : Verdict::handled());
  }};
  TestWorker one = worker(handler);
  const auto ids = store.publish({test::an_event()});
  ASSERT_TRUE(one.step());
  resting = false;
  clock.advance(10min);
  ASSERT_TRUE(one.step());
  EXPECT_EQ(store.event(ids[0]).status, Status::delivered);
  EXPECT_THAT(attempts(ids[0]), IsEmpty());
}

TEST_F(HistoryLogTest, AnExpiredClaimIsAnAttemptOfItsWorker) {
  ScriptedHandler handler;
  TestWorker one = worker(handler);
  const auto ids = store.publish({test::an_event()});
  ASSERT_THAT(store->claim({.worker = "test:1", .limit = 1, .ttl = 60s}).value(), SizeIs(1));
  clock.advance(10min);
  Reaper reaper{*store, *store, *store, {}, {without_jitter(), [] { return 0.5; }}};
  ASSERT_TRUE(reaper.step(10));
  const auto kept = attempts(ids[0]);
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].attempt.outcome, AttemptOutcome::expired);
  EXPECT_EQ(kept[0].attempt.handler_name, "sluice.log");
  EXPECT_EQ(kept[0].attempt.worker, "test:1");
  EXPECT_EQ(kept[0].attempt.took, 10min);
}

TEST_F(HistoryLogTest, MinutesAddUpToWhatWasDelivered) {
  ScriptedHandler handler;
  TestWorker one = worker(handler);
  for (int minute = 0; minute < 3; ++minute) {
    store.publish({test::an_event("a.one"), test::an_event("a.two")});
    ASSERT_TRUE(one.step());
    ASSERT_TRUE(log.step());
    ASSERT_TRUE(log.step()) << "what was written is not written again";
    clock.advance(1min);
  }
  EXPECT_EQ(sum(HistoryKind::all).delivered, 6);
  EXPECT_EQ(sum(HistoryKind::all).first.count(), 6);
  EXPECT_EQ(sum(HistoryKind::type, "a.one").delivered, 3);
  EXPECT_EQ(sum(HistoryKind::handler, "sluice.log").delivered, 6);
  EXPECT_THAT(store->history({false, clock.now() - 1h, clock.now(), HistoryKind::all, {}}).value(), SizeIs(3));
}

TEST_F(HistoryLogTest, AReplayCountsFromTheReplay) {
  bool broken = true;
  ScriptedHandler handler{[&](ScriptedHandler::Events events) {
    Verdict gone = Verdict::failed("gone", "gone");
    gone.terminal = true;
    return std::vector<Verdict>(events.size(), broken ? gone : Verdict::handled());
  }};
  TestWorker one = worker(handler);
  const auto ids = store.publish({test::an_event()});
  ASSERT_TRUE(one.step());
  clock.advance(20h);
  broken = false;
  ASSERT_TRUE(store->replay(ids[0], 1, {"alice", "test", "fixed"}));
  clock.advance(5s);
  ASSERT_TRUE(one.step());
  ASSERT_TRUE(log.step());
  const HistoryCounts all = sum(HistoryKind::all);
  EXPECT_EQ(all.failed, 1);
  EXPECT_EQ(all.delivered, 1);
  EXPECT_EQ(all.replayed, 1);
  EXPECT_TRUE(all.first.empty());
  EXPECT_TRUE(all.later.empty());
  ASSERT_EQ(all.replays.count(), 1);
  EXPECT_GE(all.replays.quantile(1), 5s - 5s / 64);
  EXPECT_LT(all.replays.quantile(1), 1h);
  EXPECT_EQ(metrics.delivery.handled_latency->snapshot().count(), 0U);
  EXPECT_EQ(metrics.delivery.replay_latency->snapshot().count(), 1U);
  EXPECT_THAT(attempts(ids[0]), SizeIs(2)) << "a success after a failure, whatever lay between";
}

TEST_F(HistoryLogTest, RetriesAndWaitsAreApartFromFirstAttempts) {
  int calls = 0;
  ScriptedHandler handler{[&](ScriptedHandler::Events events) {
    return std::vector<Verdict>(events.size(), ++calls == 1 ? a_timeout() : Verdict::handled());
  }};
  TestWorker one = worker(handler);
  store.publish({test::an_event()});
  ASSERT_TRUE(one.step());
  clock.advance(10min);
  ASSERT_TRUE(one.step());
  ASSERT_TRUE(log.step());
  const HistoryCounts all = sum(HistoryKind::all);
  EXPECT_EQ(all.retried, 1);
  EXPECT_EQ(all.later.count(), 1);
  EXPECT_TRUE(all.first.empty());
}

TEST_F(HistoryLogTest, WhatCouldNotBeWrittenIsKeptUnlessTheAnswerWasLost) {
  HistoryBook book;
  book.at(clock.now(), HistoryKind::all).delivered = 4;
  metrics.history.add(book);
  test::FaultyStore faulty{*store};
  HistoryLog unlucky{faulty, metrics.history};
  faulty.fail_call(1, test::Fault::before);
  EXPECT_FALSE(unlucky.step());
  EXPECT_THAT(metrics.history.unwritten(), SizeIs(1));
  faulty.fail_call(1, test::Fault::after);
  EXPECT_FALSE(unlucky.step());
  EXPECT_THAT(metrics.history.unwritten(), IsEmpty());
  EXPECT_EQ(sum(HistoryKind::all).delivered, 4) << "the lost call had done it";
}

}  // namespace
}  // namespace sluice::runtime
