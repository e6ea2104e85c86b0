#include "runtime/alerts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/alert_fixture.hpp"
#include "tests/support/faulty_store.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

class AlertsTest : public testing::Test {
 protected:
  AlertsTest() {
    options.throttle.window = 5min;
    options.queue_limit = 4;
    options.post.backoff = {1ms, 1ms};
    options.random = [this] { return std::array<std::uint8_t, 10>{++random_}; };
  }

  std::unique_ptr<Alerts> make(store::Observing& on, std::vector<Receiver*> receivers) {
    std::vector<std::unique_ptr<alert::AlertChannel>> channels;
    for (Receiver* each : receivers) channels.push_back(std::make_unique<ScriptedChannel>(*each));
    return std::make_unique<Alerts>(std::move(channels), on, telemetry::Logger{}, options);
  }

  TestStore store;
  Receiver receiver;
  AlertsOptions options;

 private:
  std::uint8_t random_ = 0;
};

TEST_F(AlertsTest, EveryChannelHearsOfAFailure) {
  Receiver other;
  other.name = "sentry";
  auto alerts = make(*store, {&receiver, &other});
  alerts->start();
  alerts->offer(failure("a"));
  receiver.await(1);
  other.await(1);
  EXPECT_EQ(receiver.calls()[0].alert_id, other.calls()[0].alert_id);
  EXPECT_TRUE(receiver.calls()[0].failure.failed_at);
  alerts->stop();
  const auto status = alerts->status();
  ASSERT_EQ(status.channels.size(), 2U);
  EXPECT_EQ(status.channels[0].sent, 1);
  EXPECT_EQ(status.channels[1].name, "sentry");
}

TEST_F(AlertsTest, AnotherAttemptHasTheSameIdAndAnotherAlertDoesNot) {
  receiver.answer({away()});
  auto alerts = make(*store, {&receiver});
  alerts->start();
  alerts->offer(failure("a"));
  alerts->offer(failure("b"));
  receiver.await(3);
  const auto calls = receiver.calls();
  EXPECT_EQ(calls[0].alert_id, calls[1].alert_id);
  EXPECT_NE(calls[1].alert_id, calls[2].alert_id);
}

TEST_F(AlertsTest, AStopReportsWhatTheThrottleHeldBack) {
  auto alerts = make(*store, {&receiver});
  alerts->start();
  for (int i = 1; i <= 4; ++i) alerts->offer(failure("a", i));
  alerts->stop();
  const auto calls = receiver.calls();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].failure.attempts, 1);
  EXPECT_EQ(calls[1].failure.attempts, 4);
  EXPECT_EQ(calls[1].suppressed, 2);
  EXPECT_EQ(alerts->status().suppressed, 3);
}

TEST_F(AlertsTest, AWindowThatClosesSendsASummary) {
  AlertTime time;
  options.post.clocks = time.clocks();
  auto alerts = make(*store, {&receiver});
  alerts->offer(failure("a", 1));
  alerts->offer(failure("a", 2));
  EXPECT_EQ(alerts->step(), 5min);
  EXPECT_EQ(alerts->status().channels[0].queued, 1);
  time.advance(5min);
  EXPECT_EQ(alerts->step(), 5min);
  EXPECT_EQ(alerts->status().channels[0].queued, 2);
  time.advance(5min);
  EXPECT_EQ(alerts->step(), std::nullopt);
  EXPECT_EQ(alerts->status().channels[0].queued, 2);
}

TEST_F(AlertsTest, AFullQueueDropsTheNewestAndCounts) {
  auto alerts = make(*store, {&receiver});
  for (int i = 0; i < 6; ++i) alerts->offer(failure(std::to_string(i)));
  EXPECT_EQ(alerts->status().queued, 4);
  EXPECT_EQ(alerts->status().dropped, 2);
  alerts->start();
  alerts->stop();
  EXPECT_EQ(receiver.calls().size(), 4U);
  EXPECT_EQ(receiver.calls().back().failure.fingerprint, "3");
}

TEST_F(AlertsTest, AHangingReceiverHoldsUpNobodyElseAndNotTheStop) {
  Receiver hanging;
  hanging.hang();
  options.last_moment = 1ms;
  auto alerts = make(*store, {&hanging, &receiver});
  alerts->start();
  alerts->offer(failure("a"));
  hanging.await(1);
  alerts->offer(failure("b"));
  receiver.await(2);
  alerts->stop();
  EXPECT_EQ(alerts->status().channels[0].dropped, 2);
  EXPECT_EQ(alerts->status().channels[1].sent, 2);
}

TEST_F(AlertsTest, AStopDoesNotBreakTheSilenceThatAReceiverAskedFor) {
  receiver.answer({too_many(1h)});
  auto alerts = make(*store, {&receiver});
  alerts->start();
  alerts->offer(failure("a"));
  receiver.await(1);
  alerts->stop();
  EXPECT_EQ(receiver.calls().size(), 1U);
  EXPECT_EQ(alerts->status().channels[0].dropped, 1);
}

TEST_F(AlertsTest, LooksUpWhatTheReaperDoesNotKnow) {
  EnvelopeDraft draft = test::a_draft("billing.charged");
  draft.target = "ledger";
  const auto ids = store.publish({test::an_event(draft)});
  auto alerts = make(*store, {&receiver});
  FailureNotice bare = failure("a", 5);
  bare.event_type.clear();
  bare.event_id = ids[0];
  alerts->offer(bare);
  alerts->start();
  receiver.await(1);
  const FailureNotice told = receiver.calls()[0].failure;
  EXPECT_EQ(told.event_type, "billing.charged");
  EXPECT_EQ(told.source, draft.source);
  EXPECT_EQ(told.target, "ledger");
  EXPECT_EQ(told.generation, 1);
  EXPECT_EQ(told.handler_name, "");
  EXPECT_EQ(told.attempts, 5);
}

TEST_F(AlertsTest, GoesOutWithoutTheDetailsWhenTheStoreIsAway) {
  test::FaultyStore faulty{*store};
  faulty.fail_verb("get_event", away());
  auto alerts = make(faulty, {&receiver});
  FailureNotice bare = failure("a");
  bare.event_type.clear();
  bare.event_id = test::new_id();
  alerts->offer(bare);
  alerts->start();
  receiver.await(1);
  EXPECT_EQ(receiver.calls()[0].failure.event_id, bare.event_id);
  EXPECT_EQ(receiver.calls()[0].failure.event_type, "");
}

TEST_F(AlertsTest, IsStoppedByItsOwnEndAndNeedNotHaveStarted) {
  make(*store, {&receiver})->offer(failure("a"));
  auto alerts = make(*store, {});
  alerts->start();
  alerts->offer(failure("a"));
  alerts.reset();
  EXPECT_TRUE(receiver.calls().empty());
}

}  // namespace
}  // namespace sluice::runtime
