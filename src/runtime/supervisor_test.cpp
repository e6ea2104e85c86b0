#include "runtime/supervisor.hpp"

#include <gmock/gmock.h>
#include <future>

#include "runtime/runtime_fixture.hpp"
#include "tests/support/faulty_store.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;

// So long that a test which depended on it would never end: what happens was caused by a signal.
constexpr Duration kNever = std::chrono::days{365};

class SupervisorTest : public testing::Test {
 protected:
  SupervisorTest() {
    options.worker = worker_options();
    options.poll_interval = kNever;
    options.reap_interval = kNever;
    options.retention_interval = kNever;
    options.backoff = {1ms, 2ms};
  }

  std::unique_ptr<Supervisor> start(store::Store& on, sink::Sink& sink) {
    auto started = Supervisor::start(on, sink, {}, options);
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
  ScriptedSink sink;
  const auto supervisor = start(*store, sink);
  sink.await(40);
  supervisor->request_stop();
  supervisor->join();
  expect_delivered(ids);
  EXPECT_EQ(supervisor->totals().delivered, 40);
}

TEST_F(SupervisorTest, WakeEndsTheRest) {
  ScriptedSink sink;
  const auto supervisor = start(*store, sink);
  for (std::size_t round = 1; round <= 5; ++round) {
    store.publish(test::events(1));
    supervisor->wake();
    sink.await(round);
  }
  EXPECT_EQ(sink.delivered().size(), 5U);
}

TEST_F(SupervisorTest, PollsWithoutBeingWoken) {
  options.poll_interval = 1ms;
  ScriptedSink sink;
  const auto supervisor = start(*store, sink);
  store.publish(test::events(1));
  sink.await(1);
  EXPECT_EQ(sink.delivered().size(), 1U);
}

TEST_F(SupervisorTest, ATimerWaitsForTheNextDelayedEvent) {
  auto event = test::an_event();
  event.delay = 50ms;
  const auto ids = store.publish({event});
  ScriptedSink sink;
  const auto supervisor = start(*store, sink);
  sink.await(1);
  EXPECT_EQ(sink.delivered(), ids);
}

TEST_F(SupervisorTest, ARetryFallsDueByItself) {
  const auto ids = store.publish(test::events(1));
  options.worker.retry.base = 1ms;
  options.worker.retry.cap = 1ms;
  std::atomic<int> left = 3;
  ScriptedSink sink{[&](std::span<const store::ClaimedEvent> events) {
    return std::vector<Outcome>(events.size(), left-- > 0 ? a_timeout() : Outcome::handled());
  }};
  const auto supervisor = start(*store, sink);
  sink.await(4);
  supervisor->request_stop();
  supervisor->join();
  EXPECT_EQ(store.event(ids[0]).status, Status::delivered);
  EXPECT_EQ(store.event(ids[0]).attempts, 3);
}

TEST_F(SupervisorTest, EventsOfOneKeyFollowEachOtherWithoutRest) {
  std::vector<store::NewEvent> events;
  for (int i = 0; i < 5; ++i) events.push_back(test::a_keyed_event("k"));
  const auto ids = store.publish(events);
  ScriptedSink sink;
  const auto supervisor = start(*store, sink);
  sink.await(5);
  EXPECT_EQ(sink.delivered(), ids);
}

TEST_F(SupervisorTest, ErrorsOfTheStoreAreOutlived) {
  const auto ids = store.publish(test::events(3));
  test::FaultyStore faulty{*store};
  faulty.fail_call(1, test::Fault::before, 20);
  ScriptedSink sink;
  {
    const auto supervisor = start(faulty, sink);
    sink.await(3);
  }
  expect_delivered(ids);
}

TEST_F(SupervisorTest, StopFinishesWhatIsInFlight) {
  const auto ids = store.publish(test::events(1));
  std::promise<void> release;
  ScriptedSink sink{[&, gate = release.get_future().share()](std::span<const store::ClaimedEvent> events) {
    gate.wait();
    return std::vector<Outcome>(events.size(), Outcome::handled());
  }};
  const auto supervisor = start(*store, sink);
  sink.await(1);
  const auto later = store.publish(test::events(1));
  supervisor->request_stop();
  release.set_value();
  supervisor->join();
  expect_delivered(ids);
  EXPECT_EQ(store.event(later[0]).status, Status::pending) << "nothing is claimed after the stop";
}

// Fails the first settle and tells when.
class FirstSettleFails final : public test::FaultyStore {
 public:
  using FaultyStore::FaultyStore;

  Result<store::SettleReport> settle(std::span<const store::SettleItem> items) override {
    if (settles_++ > 0) return FaultyStore::settle(items);
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
  ScriptedSink sink;
  const auto supervisor = start(flaky, sink);
  flaky.failed.get_future().wait();
  supervisor->request_stop();
  supervisor->join();
  expect_delivered(ids);
  EXPECT_EQ(sink.delivered().size(), 1U);
}

TEST_F(SupervisorTest, ManyWorkersDeliverEachEventOnce) {
  const auto ids = store.publish(test::events(300));
  options.workers = 4;
  ScriptedSink sink;
  const auto supervisor = start(*store, sink);
  sink.await(300);
  supervisor->request_stop();
  supervisor->join();
  expect_delivered(ids);
  EXPECT_THAT(sink.delivered(), testing::UnorderedElementsAreArray(ids));
}

TEST_F(SupervisorTest, TheReaperBringsBackTheClaimsOfADeadWorker) {
  const auto ids = store.publish(test::events(1));
  store::ClaimRequest request;
  request.worker = "dead:1";
  request.ttl = 1ms;
  ASSERT_EQ(store->claim(request)->size(), 1U);
  options.reap_interval = 5ms;
  options.worker.retry.base = 1ms;
  options.worker.retry.cap = 1ms;
  ScriptedSink sink;
  const auto supervisor = start(*store, sink);
  sink.await(1);
  supervisor->request_stop();
  supervisor->join();
  expect_delivered(ids);
  EXPECT_EQ(store.event(ids[0]).attempts, 1);
}

TEST_F(SupervisorTest, BadOptionsAreRefusedBeforeAnyThreadStarts) {
  const auto field_of = [this](auto change) {
    SupervisorOptions changed = options;
    change(changed);
    ScriptedSink sink;
    const auto started = Supervisor::start(*store, sink, {}, changed);
    return started ? std::string{} : started.error().field;
  };
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.workers = 0; }), "workers");
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.worker.identity = ""; }), "identity");
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.poll_interval = 0s; }), "poll_interval");
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.reap_interval = 0s; }), "reap_interval");
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.reap_limit = 0; }), "reap_limit");
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.retention_interval = 0s; }), "retention_interval");
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.backoff.cap = 0s; }), "backoff.cap");
  EXPECT_EQ(field_of([](SupervisorOptions& o) { o.retention.policies.event_handled.active = std::chrono::days{1}; }),
            "event_handled.active");
}

}  // namespace
}  // namespace sluice::runtime
