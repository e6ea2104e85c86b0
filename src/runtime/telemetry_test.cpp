#include "runtime/telemetry.hpp"

#include <gtest/gtest.h>

#include "runtime/supervisor.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

class TelemetryTest : public testing::Test {
 protected:
  /// A worker that reports, on its own store and clock.
  TestWorker worker(ScriptedHandler& handler) {
    return TestWorker{*store, handler.handlers(), {}, worker_options(), {}, &metrics};
  }
  [[nodiscard]] std::uint64_t settled(const std::string& result) {
    return metrics.delivery.settled.with({result}).value();
  }
  [[nodiscard]] std::uint64_t runs(const std::string& result) {
    return metrics.delivery.handler_runs.with({"sluice.log", result}).value();
  }

  ManualClock clock;
  TestStore store{[this] { return clock.now(); }};
  telemetry::Registry registry;
  telemetry::MetricSet metrics{registry};
};

TEST_F(TelemetryTest, ADeliveryIsMeasuredFromClaimToSettle) {
  ScriptedHandler handler;
  TestWorker one = worker(handler);
  auto event = test::a_draft();
  event.occurred_at = clock.now() - std::chrono::seconds{3};
  store.publish({test::an_event(event), test::an_event()});
  ASSERT_TRUE(one.step());
  ASSERT_TRUE(one.step());

  telemetry::DeliveryMetrics& seen = metrics.delivery;
  EXPECT_EQ(seen.claims.with({"partial"}).value(), 1U);
  EXPECT_EQ(seen.claims.with({"empty"}).value(), 1U);
  EXPECT_EQ(seen.claimed_events->value(), 2U);
  EXPECT_EQ(seen.claim_duration->snapshot().count(), 2U);
  EXPECT_EQ(seen.claim_batch->snapshot().sum, 2.0);
  EXPECT_EQ(settled("delivered"), 2U);
  EXPECT_EQ(runs("handled"), 2U);
  EXPECT_EQ(seen.settle_duration->snapshot().count(), 1U);
  EXPECT_EQ(seen.handler_duration.with({"sluice.log"}).snapshot().count(), 2U);
  EXPECT_EQ(seen.handled_latency->snapshot().count(), 2U);
  EXPECT_GE(seen.handled_latency->snapshot().sum, 3.0);
}

TEST_F(TelemetryTest, FailuresAreCountedByClassAndResult) {
  ScriptedHandler handler{always(a_timeout())};
  handler.retry.max_attempts = 2;
  TestWorker one = worker(handler);
  store.publish({test::an_event()});
  ASSERT_TRUE(one.step());
  EXPECT_EQ(settled("retried"), 1U);
  clock.advance(std::chrono::minutes{10});
  ASSERT_TRUE(one.step());
  EXPECT_EQ(settled("failed"), 1U);
  EXPECT_EQ(runs("failed"), 2U);
  EXPECT_EQ(metrics.delivery.handler_failures.with({"TimeoutError"}).value(), 2U);
  EXPECT_EQ(metrics.delivery.handled_latency->snapshot().count(), 0U);
}

TEST_F(TelemetryTest, ADeferralIsNeitherHandledNorFailed) {
  ScriptedHandler handler{always(Verdict::defer_until(clock.now() + std::chrono::hours{1}))};
  TestWorker one = worker(handler);
  store.publish({test::an_event()});
  ASSERT_TRUE(one.step());
  EXPECT_EQ(settled("released"), 1U);
  EXPECT_EQ(runs("deferred"), 1U);
}

TEST_F(TelemetryTest, WithoutMetricsNothingIsReportedAndNothingBreaks) {
  ScriptedHandler handler;
  TestWorker one{*store, handler.handlers()};
  store.publish({test::an_event()});
  const auto report = one.step();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->delivered, 1);
  EXPECT_EQ(settled("delivered"), 0U);
}

TEST_F(TelemetryTest, ReapedAndSweptAreCounted) {
  StepReport reaped;
  reaped.retried = 2;
  reaped.failed = 1;
  count_reaped(&metrics, reaped, {});
  count_swept(&metrics, {3, 4, 1, 5, false});
  count_reaped(nullptr, reaped, {});
  count_swept(nullptr, {});
  EXPECT_EQ(metrics.delivery.reaped.with({"retried"}).value(), 2U);
  EXPECT_EQ(metrics.delivery.reaped.with({"failed"}).value(), 1U);
  EXPECT_EQ(metrics.delivery.swept.with({"tombstoned"}).value(), 3U);
  EXPECT_EQ(metrics.delivery.swept.with({"deleted"}).value(), 4U);
  EXPECT_EQ(metrics.delivery.swept.with({"handled"}).value(), 5U);
  EXPECT_EQ(metrics.delivery.failed_swept->value(), 1U);
}

TEST_F(TelemetryTest, TheListenerIsInOneStateAtATime) {
  ListenerObserver observer{&metrics};
  observer.saw(ListenerState::reconnecting, {});
  observer.saw(ListenerState::listening, {.notifications = 9, .connects = 3, .losses = 2, .deaf = 1});
  observer.saw(ListenerState::listening, {.notifications = 10, .connects = 3, .losses = 2, .deaf = 1});
  EXPECT_EQ(metrics.listener.state.with({"listening"}).value(), 1);
  EXPECT_EQ(metrics.listener.state.with({"reconnecting"}).value(), 0);
  EXPECT_EQ(metrics.listener.state.with({"deaf"}).value(), 0);
  EXPECT_EQ(metrics.listener.notifications->value(), 10U);
  EXPECT_EQ(metrics.listener.reconnects->value(), 2U);
  EXPECT_EQ(metrics.listener.losses->value(), 2U);
  EXPECT_EQ(metrics.listener.deaf->value(), 1U);
}

TEST_F(TelemetryTest, AListenerThatTakesOverGoesOnCounting) {
  ListenerObserver first{&metrics};
  first.saw(ListenerState::listening, {.notifications = 4, .connects = 1});
  ListenerObserver second{&metrics};
  second.saw(ListenerState::listening, {.notifications = 2, .connects = 1});
  ListenerObserver{nullptr}.saw(ListenerState::deaf, {.notifications = 100});
  EXPECT_EQ(metrics.listener.notifications->value(), 6U);
  EXPECT_EQ(metrics.listener.reconnects->value(), 0U);
}

TEST_F(TelemetryTest, AlertsAreToldApartByChannel) {
  AlertStatus status;
  status.dropped = 1;
  status.suppressed = 7;
  status.channels = {{"sentry", 5, 4, 3, 2, "", {}}};
  mirror(metrics, status);
  EXPECT_EQ(metrics.alerts.sent.with({"sentry"}).value(), 5U);
  EXPECT_EQ(metrics.alerts.failed.with({"sentry"}).value(), 4U);
  EXPECT_EQ(metrics.alerts.dropped.with({"sentry"}).value(), 3U);
  EXPECT_EQ(metrics.alerts.dropped.with({"queue"}).value(), 1U);
  EXPECT_EQ(metrics.alerts.queued.with({"sentry"}).value(), 2);
  EXPECT_EQ(metrics.alerts.suppressed->value(), 7U);
}

TEST_F(TelemetryTest, AWorkerThatLooksByItselfPolls) {
  ScriptedHandler handler;
  SupervisorOptions options;
  options.worker = worker_options();
  options.listener.poll = options.listener.safety_poll = std::chrono::milliseconds{1};
  options.metrics = &metrics;
  auto started = Supervisor::start(*store, handler.handlers(), {}, std::move(options));
  ASSERT_TRUE(started);
  while (metrics.delivery.polls->value() < 3) std::this_thread::yield();
  while (metrics.listener.state.with({"listening"}).value() != 1) std::this_thread::yield();
  (*started)->request_stop();
  (*started)->join();
}

}  // namespace
}  // namespace sluice::runtime
