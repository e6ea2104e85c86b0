#include "runtime/retention.hpp"

#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using std::chrono::days;

class RetentionSweepTest : public testing::Test {
 protected:
  void deliver_events(int count) {
    store.publish(test::events(count));
    ScriptedHandler handler;
    TestWorker worker{*store, handler.handlers()};
    for (;;) {
      const auto report = worker.step();
      ASSERT_TRUE(report);
      if (report->claimed == 0) break;
    }
  }

  ManualClock clock;
  TestStore store{[this] { return clock.now(); }};
  RetentionOptions options;
};

TEST_F(RetentionSweepTest, SweepsBatchAfterBatchUntilNothingIsLeft) {
  deliver_events(25);
  clock.advance(days{46});
  options.batch_limit = 10;
  const auto report = RetentionSweep{*store, {}, options}.step();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->outbox_tombstoned, 25);
  EXPECT_FALSE(report->more);
}

TEST_F(RetentionSweepTest, TheNumberOfBatchesIsBounded) {
  deliver_events(25);
  clock.advance(days{46});
  options.batch_limit = 10;
  options.max_batches = 2;
  RetentionSweep sweep{*store, {}, options};
  const auto first = sweep.step();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->outbox_tombstoned, 20);
  EXPECT_TRUE(first->more);
  const auto second = sweep.step();
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->outbox_tombstoned, 5);
}

TEST_F(RetentionSweepTest, NeverTouchesWhatIsPending) {
  const auto ids = store.publish(test::events(1));
  clock.advance(days{1000});
  const auto report = RetentionSweep{*store, {}, options}.step();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->outbox_tombstoned, 0);
  EXPECT_EQ(store.event(ids[0]).status, Status::pending);
}

TEST_F(RetentionSweepTest, RefusesPoliciesThatBreakDedup) {
  options.policies.event_handled.active = days{52};
  const auto report = RetentionSweep{*store, {}, options}.step();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().field, "event_handled.active");
}

TEST_F(RetentionSweepTest, AStopEndsItBetweenBatches) {
  deliver_events(1);
  clock.advance(days{46});
  std::stop_source source;
  source.request_stop();
  const auto report = RetentionSweep{*store, {}, options}.step(source.get_token());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outbox_tombstoned, 0);
}

TEST_F(RetentionSweepTest, ForgetsGroupsOfFailuresThatStandForNothing) {
  const auto ids = store.publish(test::events(1));
  ScriptedHandler handler{always(Verdict::failed("TerminalError", "never"))};
  handler.retry.max_attempts = 1;
  ASSERT_TRUE(TestWorker(*store, handler.handlers()).step());
  ASSERT_EQ(store->failure_groups({})->size(), 1U);
  ASSERT_TRUE(store->discard(ids[0], {"alice", "cli", "done"}));
  clock.advance(days{60});
  ASSERT_TRUE((RetentionSweep{*store, {}, options}.step()));
  EXPECT_EQ(store->prune({})->failure_groups, 0) << "the sweep has done it";
}

}  // namespace
}  // namespace sluice::runtime
