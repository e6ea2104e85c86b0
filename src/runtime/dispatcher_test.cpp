// How handlers of every shape, alone and together, take an event to its end.
#include "runtime/dispatcher.hpp"

#include <gmock/gmock.h>
#include <latch>
#include <thread>

#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

class DispatcherTest : public testing::Test {
 protected:
  void add(const std::string& name, EventHandler handler, bool idempotent = false) {
    const auto added = handlers.add({.subscription = {.handler_name = name},
                                     .handler = std::move(handler),
                                     .retry = without_jitter(),
                                     .idempotent = idempotent});
    ASSERT_TRUE(added) << added.error().message;
  }
  StepReport step(const std::stop_token& abandon = {}) {
    if (!worker) worker = std::make_unique<TestWorker>(*store, std::move(handlers));
    const auto report = worker->step(abandon);
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : StepReport{};
  }
  std::vector<std::string> handled_by(const Uuid& id) {
    std::vector<std::string> names;
    const auto records = store->handled(store.event(id)).value();
    for (const auto& record : records) names.push_back(record.key.handler_name);
    return names;
  }

  ManualClock clock;
  TestStore store{[this] { return clock.now(); }};
  HandlerSet handlers;
  std::unique_ptr<TestWorker> worker;
};

Task on_another_thread(std::vector<std::jthread>& threads, std::atomic<int>& ran) {
  struct Hop {
    std::vector<std::jthread>& threads;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> caller) const {
      threads.emplace_back([caller] { caller.resume(); });
    }
    void await_resume() const noexcept {}
  };
  co_await Hop{threads};
  ++ran;
}

TEST_F(DispatcherTest, EveryShapeHandles) {
  std::atomic<int> ran = 0;
  std::vector<std::jthread> threads;
  add("tests.each", [&](const EventEnvelope&) { ++ran; });
  add("tests.verdict", [&](const EventEnvelope&) { return ++ran, Verdict::handled(); });
  add("tests.with_delivery", [&](const EventEnvelope&, const Delivery& delivery) {
    EXPECT_EQ(delivery.handler_name, "tests.with_delivery");
    ++ran;
  });
  add("tests.coroutine", [&](const EventEnvelope&) { return on_another_thread(threads, ran); });
  add("tests.batch", [&](std::span<const EventEnvelope> events) { ran += static_cast<int>(events.size()); });
  add("tests.once", [&](const EventEnvelope&, Transaction&) { ++ran; });
  add("tests.batch_once",
      [&](std::span<const EventEnvelope> events, Transaction&) { ran += static_cast<int>(events.size()); });
  const auto ids = store.publish(test::events(3));
  EXPECT_EQ(step().delivered, 3);
  EXPECT_EQ(ran.load(), 21);
  for (const Uuid& id : ids) EXPECT_EQ(handled_by(id).size(), 7U);
}

TEST_F(DispatcherTest, CoroutinesOfABatchRunTogether) {
  // Each waits for all the others: one after the other would never end.
  std::latch all{5};
  std::vector<std::jthread> threads;
  struct Meet {
    std::latch& all;
    std::vector<std::jthread>& threads;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> caller) const {
      threads.emplace_back([this, caller] {
        all.arrive_and_wait();
        caller.resume();
      });
    }
    void await_resume() const noexcept {}
  };
  const auto meet = [](std::latch& latch, std::vector<std::jthread>& on) -> Task { co_await Meet{latch, on}; };
  add("tests.coroutine", [&](const EventEnvelope&) { return meet(all, threads); });
  store.publish(test::events(5));
  EXPECT_EQ(step().delivered, 5);
}

TEST_F(DispatcherTest, AThrowingCoroutineFailsOnlyItsOwnEvent) {
  const auto ids = store.publish(test::events(2));
  const auto body = [&](const EventEnvelope& event) -> Task {
    if (event.event_id() == ids[0]) throw TerminalError{"no"};
    co_return;
  };
  add("tests.coroutine", body);
  const StepReport report = step();
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.delivered, 1);
}

TEST_F(DispatcherTest, SuccessAndFailureOfSeveralHandlersAreSeparate) {
  int good = 0;
  int bad = 0;
  add("tests.good", [&](const EventEnvelope&) { ++good; });
  add("tests.bad", [&](const EventEnvelope&) {
    if (++bad < 3) throw std::runtime_error("not yet");
  });
  const auto ids = store.publish(test::events(1));
  const StepReport first = step();
  EXPECT_EQ(first.retried, 1);
  EXPECT_THAT(first.failures_by_class, testing::ElementsAre(testing::Pair("runtime_error", 1)));
  EXPECT_EQ(store.event(ids[0]).last_error, "runtime_error: not yet");
  EXPECT_THAT(handled_by(ids[0]), testing::ElementsAre("tests.good"));
  clock.advance(2s);
  EXPECT_EQ(step().retried, 1);
  clock.advance(3s);
  EXPECT_EQ(step().delivered, 1);
  EXPECT_EQ(good, 1) << "a retry runs only what has not handled it";
  EXPECT_EQ(bad, 3);
}

TEST_F(DispatcherTest, AnIdempotentHandlerAloneLeavesNoDedupRow) {
  add(
      "tests.idempotent", [](const EventEnvelope&) {}, true);
  const auto ids = store.publish(test::events(1));
  EXPECT_EQ(step().delivered, 1);
  EXPECT_THAT(handled_by(ids[0]), testing::IsEmpty());
}

TEST_F(DispatcherTest, AnIdempotentHandlerBesideAnotherIsRecorded) {
  int runs = 0;
  bool broken = true;
  add(
      "tests.idempotent", [&](const EventEnvelope&) { ++runs; }, true);
  add("tests.other", [&](const EventEnvelope&) {
    if (broken) throw std::runtime_error("no");
  });
  const auto ids = store.publish(test::events(1));
  step();
  EXPECT_THAT(handled_by(ids[0]), testing::ElementsAre("tests.idempotent"));
  broken = false;
  clock.advance(2s);
  EXPECT_EQ(step().delivered, 1);
  EXPECT_EQ(runs, 1);
}

TEST_F(DispatcherTest, AFailedExactlyOnceHandlerLeavesNothingBehind) {
  add("tests.once", [&](const EventEnvelope& event, Transaction& transaction) {
    transaction.execute("insert into settings (key, value, description) values ($1, 'x', 'x')",
                        {event.event_id().to_string()});
    if (event.event_type() == "test.bad") throw TerminalError{"after the effect"};
  });
  EnvelopeDraft bad = test::a_draft();
  bad.event_type = "test.bad";
  const auto ids = store.publish({test::an_event(), test::an_event(bad), test::an_event()});
  const StepReport report = step();
  EXPECT_EQ(report.delivered, 2);
  EXPECT_EQ(report.failed, 1);
  auto effect = store->begin_effect(1min);
  ASSERT_TRUE(effect);
  const auto rows =
      std::get<store::StatementResult>((*effect)->statement("select key from settings where value = 'x'", {}));
  EXPECT_EQ(rows.rows.size(), 2U) << "the failed event's effect was undone";
  effect->reset();
  EXPECT_TRUE(handled_by(ids[1]).empty());
  EXPECT_EQ(store.event(ids[1]).status, Status::failed);
}

TEST_F(DispatcherTest, AFailedBatchIsTriedEventByEvent) {
  std::vector<std::size_t> sizes;
  const auto ids = store.publish(test::events(4));
  add("tests.batch_once", [&](std::span<const EventEnvelope> events, Transaction&) {
    sizes.push_back(events.size());
    for (const auto& event : events) {
      if (event.event_id() == ids[2]) throw TerminalError{"poison"};
    }
  });
  const StepReport report = step();
  EXPECT_EQ(report.delivered, 3);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(store.event(ids[2]).status, Status::failed);
  EXPECT_THAT(sizes, testing::ElementsAre(4U, 1U, 1U, 1U, 1U));
}

TEST_F(DispatcherTest, TheSameKeyTwiceInOneBatchHasOneEffect) {
  int effects = 0;
  add("tests.once", [&](const EventEnvelope&, Transaction&) { ++effects; });
  EnvelopeDraft first = test::a_draft();
  first.idempotency_key = "same";
  EnvelopeDraft second = test::a_draft();
  second.idempotency_key = "same";
  const auto ids = store.publish({test::an_event(first), test::an_event(second)});
  const StepReport report = step();
  EXPECT_EQ(report.delivered, 2);
  EXPECT_EQ(report.deduplicated, 1);
  EXPECT_EQ(effects, 1);
}

TEST_F(DispatcherTest, AHandlerThatEndsItsTransactionIsAFailure) {
  add("tests.rude", [&](const EventEnvelope&, Transaction& transaction) { transaction.execute("rollback"); });
  store.publish(test::events(1));
  worker = std::make_unique<TestWorker>(*store, std::move(handlers));
  const auto report = worker->step();
  EXPECT_TRUE(!report || report->delivered == 0);
}

TEST_F(DispatcherTest, WhatHasNotBegunIsGivenBackWhenTheProcessMustEnd) {
  std::stop_source abandon;
  int ran = 0;
  add("tests.slow", [&](const EventEnvelope&) {
    ++ran;
    abandon.request_stop();
  });
  const auto ids = store.publish(test::events(3));
  const StepReport report = step(abandon.get_token());
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(report.delivered, 1);
  EXPECT_EQ(report.released, 2);
  EXPECT_EQ(store.event(ids[2]).status, Status::pending);
  EXPECT_EQ(store.event(ids[2]).attempts, 0);
}

TEST_F(DispatcherTest, ASubscriptionThatAppearsMeanwhileIsWaitedFor) {
  add("tests.here", [&](const EventEnvelope&) {
    const Subscription elsewhere{"other.there", {"*"}, {}, {}};
    ASSERT_TRUE(store->subscribe(1, std::span{&elsewhere, 1}));
  });
  const auto ids = store.publish(test::events(1));
  EXPECT_EQ(step().released, 1) << "decided again with the new registry";
  EXPECT_EQ(store.event(ids[0]).status, Status::pending);
  EXPECT_THAT(handled_by(ids[0]), testing::ElementsAre("tests.here"));
  ASSERT_EQ(store.event(ids[0]).progress.size(), 1U);
  EXPECT_EQ(store.event(ids[0]).progress[0].handler_name, "other.there");
}

TEST_F(DispatcherTest, AnExactlyOnceHandlerRunsAgainWhenTheRegistryHasChanged) {
  int runs = 0;
  add("tests.once", [&](const EventEnvelope& event, Transaction& transaction) {
    transaction.execute("insert into settings (key, value, description) values ($1, 'x', 'x')",
                        {event.event_id().to_string()});
    // Seen by the settle of this transaction, and undone with it.
    if (++runs == 1) transaction.execute("update settings set value = value + 1 where key = 'subscriptions_version'");
  });
  const auto ids = store.publish(test::events(1));
  EXPECT_EQ(step().delivered, 1);
  EXPECT_EQ(runs, 2) << "the first run's effect was undone";
  EXPECT_THAT(handled_by(ids[0]), testing::ElementsAre("tests.once"));
}

TEST_F(DispatcherTest, SlowHandlersMakeSmallBatches) {
  WorkerOptions options = worker_options();
  options.batch_time = 1us;
  std::vector<std::size_t> sizes;
  add("tests.batch", [&](std::span<const EventEnvelope> events) { sizes.push_back(events.size()); });
  worker = std::make_unique<TestWorker>(*store, std::move(handlers), telemetry::Logger{}, options);
  store.publish(test::events(13));
  step();
  step();
  EXPECT_THAT(sizes, testing::ElementsAre(10U, 1U));
}

// What a batch costs whatever its size is a reason for larger ones: with a store that is far away, batches of one stay
// slow.
TEST_F(DispatcherTest, SlowSettlesDoNotMakeSmallBatches) {
  WorkerOptions options = worker_options();
  options.batch_time = 1ms;
  options.at = [](std::string_view place) {
    if (place != "before_settle") return;
    const auto until = std::chrono::steady_clock::now() + 5ms;
    while (std::chrono::steady_clock::now() < until) {
    }
  };
  std::size_t largest = 0;
  add("tests.batch", [&](std::span<const EventEnvelope> events) { largest = std::max(largest, events.size()); });
  worker = std::make_unique<TestWorker>(*store, std::move(handlers), telemetry::Logger{}, options);
  store.publish(test::events(500));
  while (largest < 40 && step().claimed > 0) {
  }
  EXPECT_GE(largest, 40U);
}

}  // namespace
}  // namespace sluice::runtime
