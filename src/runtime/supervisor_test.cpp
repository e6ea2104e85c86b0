#include "runtime/supervisor.hpp"

#include <gmock/gmock.h>
#include <atomic>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "tests/support/faulty_store.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

// So long that a test which depended on it would never end: what happens was caused by a signal.
constexpr Duration kNever = std::chrono::days{365};

class SupervisorTest : public testing::Test {
 protected:
  SupervisorTest() {
    options.worker = worker_options();
    options.listener.poll = kNever;
    options.listener.safety_poll = kNever;
    options.presence_interval = kNever;
    options.drain_timeout = kNever;
    options.reap_interval = kNever;
    options.retention_interval = kNever;
    options.patrol.interval = kNever;
    options.backoff = {1ms, 2ms};
  }

  std::unique_ptr<Supervisor> start(store::Store& on, ScriptedHandler& handler) {
    auto started = Supervisor::start(on, handler.handlers(), {}, options);
    EXPECT_TRUE(started) << started.error().message;
    return std::move(started).value();
  }

  void expect_delivered(const std::vector<Uuid>& ids) {
    for (const Uuid& id : ids) EXPECT_EQ(store.event(id).status, Status::delivered);
  }

  TestStore store;
  SupervisorOptions options;
};

TEST_F(SupervisorTest, DrainsWhatIsPendingAtTheStart) {
  const auto ids = store.publish(test::events(40));
  ScriptedHandler handler;
  const auto supervisor = start(*store, handler);
  handler.await(40);
  supervisor->request_stop();
  supervisor->join();
  expect_delivered(ids);
  EXPECT_EQ(supervisor->totals().delivered, 40);
}

TEST_F(SupervisorTest, WhileClaimsFailItSaysWhy) {
  test::FaultyStore faulty{*store};
  faulty.fail_verb("claim", {ErrorCode::exhausted, Retry::safe, "out of memory", {}, {}});
  ScriptedHandler handler;
  const auto supervisor = start(faulty, handler);
  while (!supervisor->trouble()) std::this_thread::yield();
  EXPECT_EQ(supervisor->trouble()->message, "out of memory");
  supervisor->request_stop();
  supervisor->join();
}

TEST_F(SupervisorTest, WakeEndsTheRest) {
  ScriptedHandler handler;
  const auto supervisor = start(*store, handler);
  for (std::size_t round = 1; round <= 5; ++round) {
    store.publish(test::events(1));
    supervisor->wake();
    handler.await(round);
  }
  EXPECT_EQ(handler.delivered().size(), 5U);
}

TEST_F(SupervisorTest, PollsWithoutBeingWoken) {
  options.listener.poll = 1ms;
  options.listener.safety_poll = 1ms;
  ScriptedHandler handler;
  const auto supervisor = start(*store, handler);
  store.publish(test::events(1));
  handler.await(1);
  EXPECT_EQ(handler.delivered().size(), 1U);
}

TEST_F(SupervisorTest, ATimerWaitsForTheNextDelayedEvent) {
  auto event = test::an_event();
  event.delay = 50ms;
  const auto ids = store.publish({event});
  ScriptedHandler handler;
  const auto supervisor = start(*store, handler);
  handler.await(1);
  EXPECT_EQ(handler.delivered(), ids);
}

TEST_F(SupervisorTest, ARetryFallsDueByItself) {
  const auto ids = store.publish(test::events(1));
  std::atomic<int> left = 3;
  ScriptedHandler handler{[&](ScriptedHandler::Events events) {
    return std::vector<Verdict>(events.size(), left-- > 0 ? a_timeout() : Verdict::handled());
  }};
  handler.retry.base = 1ms;
  handler.retry.cap = 1ms;
  const auto supervisor = start(*store, handler);
  handler.await(4);
  supervisor->request_stop();
  supervisor->join();
  EXPECT_EQ(store.event(ids[0]).status, Status::delivered);
  EXPECT_EQ(store.event(ids[0]).attempts, 3);
}

TEST_F(SupervisorTest, EventsOfOneKeyFollowEachOtherWithoutRest) {
  std::vector<store::NewEvent> events;
  for (int i = 0; i < 5; ++i) events.push_back(test::a_keyed_event("k"));
  const auto ids = store.publish(events);
  ScriptedHandler handler;
  const auto supervisor = start(*store, handler);
  handler.await(5);
  EXPECT_EQ(handler.delivered(), ids);
}

TEST_F(SupervisorTest, ErrorsOfTheStoreAreOutlived) {
  const auto ids = store.publish(test::events(3));
  test::FaultyStore faulty{*store};
  faulty.fail_call(5, test::Fault::before, 20);  // after subscribe, announce, registry and workers
  ScriptedHandler handler;
  {
    const auto supervisor = start(faulty, handler);
    handler.await(3);
  }
  expect_delivered(ids);
}

TEST_F(SupervisorTest, StopFinishesWhatIsInFlight) {
  const auto ids = store.publish(test::events(1));
  std::promise<void> release;
  ScriptedHandler handler{[&, gate = release.get_future().share()](ScriptedHandler::Events events) {
    gate.wait();
    return std::vector<Verdict>(events.size(), Verdict::handled());
  }};
  const auto supervisor = start(*store, handler);
  handler.await(1);
  const auto later = store.publish(test::events(1));
  supervisor->request_stop();
  release.set_value();
  supervisor->join();
  expect_delivered(ids);
  EXPECT_EQ(store.event(later[0]).status, Status::pending) << "nothing is claimed after the stop";
}

// Whatever a handler makes of being asked to stop because the process ends, it is no attempt: with one attempt in all,
// counting it would be a dead letter.
class DrainTest : public SupervisorTest {
 protected:
  DrainTest() { options.drain_timeout = Duration::zero(); }

  /// Tells that the handler has begun, and returns when it is asked to stop.
  void wait_for_stop(const std::stop_token& stop) {
    std::promise<void> asked;
    const std::stop_callback on_stop{stop, [&asked] { asked.set_value(); }};
    std::call_once(told_, [this] { begun_.set_value(); });
    asked.get_future().wait();
  }

  void expect_released(EventHandler handler) {
    const auto ids = store.publish(test::events(2));
    RetryPolicy once = without_jitter();
    once.max_attempts = 1;
    HandlerSet handlers;
    ASSERT_TRUE(
        handlers.add({.subscription = {.handler_name = "sluice.log"}, .handler = std::move(handler), .retry = once}));
    auto supervisor = Supervisor::start(*store, std::move(handlers), {}, options);
    ASSERT_TRUE(supervisor);
    begun_.get_future().wait();
    (*supervisor)->request_stop();
    (*supervisor)->join();
    for (const Uuid& id : ids) {
      const auto event = store.event(id);
      EXPECT_EQ(event.status, Status::pending);
      EXPECT_EQ(event.attempts, 0);
      EXPECT_FALSE(event.last_error);
    }
    ScriptedHandler next;
    ASSERT_TRUE(TestWorker(*store, next.handlers()).step());
    expect_delivered(ids);
  }

 private:
  std::promise<void> begun_;
  std::once_flag told_;
};

TEST_F(DrainTest, ReleasesWhatSaysThatItWasStopped) {
  expect_released([this](std::span<const EventEnvelope> events, const Delivery& delivery) {
    wait_for_stop(delivery.stop);
    return std::vector<Verdict>(events.size(), Verdict::stopped("asked to stop"));
  });
}

TEST_F(DrainTest, ReleasesAFunctionThatThrowsWhenItIsStopped) {
  expect_released([this](const EventEnvelope&, const Delivery& delivery) {
    wait_for_stop(delivery.stop);
    throw std::runtime_error("asked to stop");
  });
}

TEST_F(DrainTest, ReleasesABatchThatThrowsWhenItIsStopped) {
  expect_released([this](std::span<const EventEnvelope>, const Delivery& delivery) {
    wait_for_stop(delivery.stop);
    throw std::runtime_error("asked to stop");
  });
}

TEST_F(DrainTest, ReleasesATransactionThatThrowsWhenItIsStopped) {
  expect_released([this](const EventEnvelope&, Transaction&, const Delivery& delivery) {
    wait_for_stop(delivery.stop);
    throw std::runtime_error("asked to stop");
  });
}

// Fails the first settle and tells when.
class FirstSettleFails final : public test::FaultyStore {
 public:
  using FaultyStore::FaultyStore;

  Result<store::SettleReport> settle(std::span<const store::SettleItem> items,
                                     std::optional<store::RegistryVersion> based_on) override {
    if (settles_++ > 0) return FaultyStore::settle(items, based_on);
    failed.set_value();
    return Error{ErrorCode::unavailable, Retry::safe, "the store is away", {}, {}};
  }

  std::promise<void> failed;

 private:
  std::atomic<int> settles_ = 0;
};

TEST_F(SupervisorTest, StopSettlesWhatAnErrorLeftUnsettled) {
  const auto ids = store.publish(test::events(1));
  FirstSettleFails flaky{*store};
  options.backoff = {kNever, kNever};
  ScriptedHandler handler;
  const auto supervisor = start(flaky, handler);
  flaky.failed.get_future().wait();
  supervisor->request_stop();
  supervisor->join();
  expect_delivered(ids);
  EXPECT_EQ(handler.delivered().size(), 1U);
}

PoolOptions a_pool(const std::string& name, EventHandler handler) {
  PoolOptions pool{name, {}, 1};
  EXPECT_TRUE(pool.handlers.add({.subscription = {.handler_name = "tests." + name, .event_types = {name + ".*"}},
                                 .handler = std::move(handler),
                                 .retry = without_jitter()}));
  return pool;
}

TEST_F(SupervisorTest, APoolThatIsHeldUpHoldsUpNoOther) {
  std::promise<void> begun;
  std::promise<void> release;
  std::promise<void> delivered;
  std::vector<PoolOptions> pools;
  pools.push_back(a_pool("slow", [&, gate = release.get_future().share()](const EventEnvelope&) {
    begun.set_value();
    gate.wait();
  }));
  pools.push_back(a_pool("quick", [&](const EventEnvelope&) { delivered.set_value(); }));
  auto supervisor = Supervisor::start(*store, std::move(pools), {}, options);
  ASSERT_TRUE(supervisor);
  const auto slow = store.publish({test::an_event("slow.one")});
  begun.get_future().wait();
  const auto quick = store.publish({test::an_event("quick.one")});
  delivered.get_future().wait();
  EXPECT_EQ(store.event(slow[0]).claimed_by, "test:1/slow/0");
  const auto workers = store->workers(1h);
  ASSERT_EQ(workers->size(), 1U) << "one process";
  EXPECT_THAT(workers->front().handlers, testing::ElementsAre("tests.quick", "tests.slow"));
  release.set_value();
  (*supervisor)->request_stop();
  (*supervisor)->join();
  EXPECT_EQ((*supervisor)->totals().delivered, 2);
  expect_delivered({slow[0], quick[0]});
}

// As a reload does: one runtime after the other under a notifier that goes on, and that others use meanwhile.
TEST_F(SupervisorTest, WhoeverWakesWhileItStartsAndStopsNothingIsLost) {
  Notifier notifier{kFirstGeneration};
  options.notifier = &notifier;
  ScriptedHandler handler;
  std::vector<Uuid> ids;
  const std::jthread waking{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      notifier.announce();
      std::this_thread::yield();
    }
  }};
  for (int round = 0; round < 5; ++round) {
    const auto supervisor = start(*store, handler);
    for (const Uuid& id : store.publish(test::events(3))) ids.push_back(id);
    handler.await(ids.size());
    supervisor->request_stop();
    supervisor->join();
  }
  expect_delivered(ids);
}

TEST_F(SupervisorTest, TheSameHandlerInTwoPoolsIsRefused) {
  ScriptedHandler handler;
  std::vector<PoolOptions> pools;
  pools.push_back({"one", handler.handlers(), 1});
  pools.push_back({"other", handler.handlers(), 1});
  const auto started = Supervisor::start(*store, std::move(pools), {}, options);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().field, "handler_name");
}

TEST_F(SupervisorTest, ManyWorkersDeliverEachEventOnce) {
  const auto ids = store.publish(test::events(300));
  options.workers = 4;
  ScriptedHandler handler;
  const auto supervisor = start(*store, handler);
  handler.await(300);
  supervisor->request_stop();
  supervisor->join();
  expect_delivered(ids);
  EXPECT_THAT(handler.delivered(), testing::UnorderedElementsAreArray(ids));
}

TEST_F(SupervisorTest, TheReaperBringsBackTheClaimsOfADeadWorker) {
  const auto ids = store.publish(test::events(1));
  store::ClaimRequest request;
  request.worker = "dead:1";
  request.ttl = 1ms;
  ASSERT_EQ(store->claim(request)->size(), 1U);
  options.reap_interval = 5ms;
  ScriptedHandler handler;
  handler.retry.base = 1ms;
  handler.retry.cap = 1ms;
  const auto supervisor = start(*store, handler);
  handler.await(1);
  supervisor->request_stop();
  supervisor->join();
  expect_delivered(ids);
  EXPECT_EQ(store.event(ids[0]).attempts, 1);
}

TEST_F(SupervisorTest, BadOptionsAreRefusedBeforeAnyThreadStarts) {
  const auto field_of = [this](auto change) {
    SupervisorOptions changed = options;
    change(changed);
    ScriptedHandler handler;
    const auto started = Supervisor::start(*store, handler.handlers(), {}, changed);
    return started ? std::string{} : started.error().field;
  };
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.workers = 0; }), "workers");
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.worker.identity = ""; }), "identity");
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.listener.poll = 0s; }), "listener.poll");
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.reap_interval = 0s; }), "reap_interval");
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.reap_limit = 0; }), "reap_limit");
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.retention_interval = 0s; }), "retention_interval");
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.backoff.cap = 0s; }), "backoff.cap");
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.retention.policies.event_handled.active = std::chrono::days{1}; }),
            "event_handled.active");
}

}  // namespace
}  // namespace sluice::runtime
