#include "runtime/worker.hpp"

#include <gmock/gmock.h>
#include <stdexcept>

#include "runtime/reaper.hpp"
#include "tests/support/faulty_store.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class WorkerTest : public testing::Test {
 protected:
  std::unique_ptr<TestWorker> worker(ScriptedHandler& handler, const WorkerOptions& options = worker_options()) {
    return std::make_unique<TestWorker>(*store, handler.handlers(), telemetry::Logger{}, options);
  }

  static StepReport step(TestWorker& worker) {
    const auto report = worker.step();
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : StepReport{};
  }

  ManualClock clock;
  TestStore store{[this] { return clock.now(); }};
};

TEST_F(WorkerTest, DeliversAndRecordsWhoHandled) {
  const auto ids = store.publish(test::events(3));
  ScriptedHandler handler;
  const auto subject_owner = worker(handler);
  TestWorker& subject = *subject_owner;
  const StepReport report = step(subject);
  EXPECT_EQ(report.claimed, 3);
  EXPECT_EQ(report.delivered, 3);
  EXPECT_THAT(handler.delivered(), testing::UnorderedElementsAreArray(ids));
  for (const Uuid& id : ids) {
    const auto event = store.event(id);
    EXPECT_EQ(event.status, Status::delivered);
    const auto handled = store->handled(event);
    ASSERT_TRUE(handled);
    ASSERT_EQ(handled->size(), 1U);
    EXPECT_EQ(handled->front().key.handler_name, "sluice.log");
  }
  EXPECT_EQ(step(subject).claimed, 0);
}

TEST_F(WorkerTest, BatchesGrowWhileTheyAreFullAndFallBack) {
  store.publish(test::events(95));
  ScriptedHandler handler;
  WorkerOptions options = worker_options();
  options.batch_max = 30;
  const auto subject_owner = worker(handler, options);
  TestWorker& subject = *subject_owner;
  while (step(subject).claimed > 0) continue;
  EXPECT_THAT(handler.batches(), ElementsAre(10U, 20U, 30U, 30U, 5U));
  store.publish(test::events(15));
  while (step(subject).claimed > 0) continue;
  EXPECT_THAT(handler.batches(), ElementsAre(10U, 20U, 30U, 30U, 5U, 10U, 5U));
}

TEST_F(WorkerTest, ATransientFailureIsRetriedLaterAndTheFifthFails) {
  const auto ids = store.publish(test::events(1));
  ScriptedHandler handler{always(a_timeout())};
  const auto subject_owner = worker(handler);
  TestWorker& subject = *subject_owner;
  for (int attempt = 1; attempt <= 4; ++attempt) {
    EXPECT_EQ(step(subject).retried, 1);
    EXPECT_EQ(step(subject).claimed, 0) << "not due yet";
    const auto event = store.event(ids[0]);
    EXPECT_EQ(event.status, Status::pending);
    EXPECT_EQ(event.attempts, attempt);
    EXPECT_EQ(event.last_error, "TimeoutError: no answer");
    clock.advance(RetryPolicy{}.bound(attempt));
  }
  EXPECT_EQ(step(subject).failed, 1);
  EXPECT_EQ(store.event(ids[0]).status, Status::failed);
  EXPECT_EQ(store.event(ids[0]).attempts, 5);
}

TEST_F(WorkerTest, ATerminalFailureFailsAtOnceAndLeavesTheOthersAlone) {
  const auto ids = store.publish(test::events(2));
  ScriptedHandler handler{[&](ScriptedHandler::Events events) {
    std::vector<Verdict> outcomes;
    for (const auto& event : events) {
      const bool bad = event.event_id() == ids[0];
      outcomes.push_back(bad ? Verdict::failed("PayloadError", "total is missing") : Verdict::handled());
    }
    return outcomes;
  }};
  const auto subject_owner = worker(handler);
  TestWorker& subject = *subject_owner;
  const StepReport report = step(subject);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.delivered, 1);
  EXPECT_EQ(store.event(ids[0]).status, Status::failed);
  EXPECT_EQ(store.event(ids[1]).status, Status::delivered);
}

TEST_F(WorkerTest, AThrowingSinkIsATransientFailure) {
  const auto ids = store.publish(test::events(2));
  ScriptedHandler handler{[](ScriptedHandler::Events) -> std::vector<Verdict> { throw std::runtime_error("boom"); }};
  const auto subject_owner = worker(handler);
  TestWorker& subject = *subject_owner;
  EXPECT_EQ(step(subject).retried, 2);
  EXPECT_EQ(store.event(ids[0]).last_error, "runtime_error: boom");

  clock.advance(1s);
  ScriptedHandler odd{[](ScriptedHandler::Events) -> std::vector<Verdict> { throw 7; }};
  const auto other_owner = worker(odd);
  TestWorker& other = *other_owner;
  EXPECT_EQ(step(other).retried, 2);
}

TEST_F(WorkerTest, ASinkThatMiscountsIsATransientFailure) {
  const auto ids = store.publish(test::events(2));
  ScriptedHandler handler{[](ScriptedHandler::Events) { return std::vector<Verdict>(1); }};
  const auto subject_owner = worker(handler);
  TestWorker& subject = *subject_owner;
  EXPECT_EQ(step(subject).retried, 2);
  EXPECT_EQ(store.event(ids[1]).last_error, "Error: the handler gave 1 verdicts for 2 events");
}

TEST_F(WorkerTest, WhatIsHandledAlreadyIsAcknowledgedWithoutRunning) {
  EnvelopeDraft draft = test::a_draft();
  draft.idempotency_key = "same";
  store.publish({test::an_event(draft)});
  ScriptedHandler handler;
  const auto subject_owner = worker(handler);
  TestWorker& subject = *subject_owner;
  step(subject);
  ASSERT_EQ(handler.delivered().size(), 1U);

  draft.event_id = test::new_id();
  const auto again = store.publish({test::an_event(draft), test::an_event()});
  const StepReport report = step(subject);
  EXPECT_EQ(report.delivered, 2);
  EXPECT_EQ(report.deduplicated, 1);
  EXPECT_THAT(handler.delivered(), testing::SizeIs(2));
  EXPECT_EQ(handler.delivered().back(), again[1]);
  EXPECT_EQ(store.event(again[0]).status, Status::delivered);
}

TEST_F(WorkerTest, ADeferredEventWaitsUncounted) {
  const auto ids = store.publish(test::events(1));
  bool defer = true;
  ScriptedHandler handler{[&](ScriptedHandler::Events events) {
    return std::vector<Verdict>(events.size(), defer ? Verdict::defer_until(clock.now() + 1h) : Verdict::handled());
  }};
  const auto subject_owner = worker(handler);
  TestWorker& subject = *subject_owner;
  EXPECT_EQ(step(subject).released, 1);
  EXPECT_EQ(store.event(ids[0]).attempts, 0);
  EXPECT_EQ(step(subject).claimed, 0);
  defer = false;
  clock.advance(1h);
  EXPECT_EQ(step(subject).delivered, 1);
}

TEST_F(WorkerTest, ALostClaimIsFencedAndCounted) {
  const auto ids = store.publish(test::events(1));
  // While the handler is busy the claim runs out, and another worker delivers the event.
  ScriptedHandler quick;
  const auto other_owner = worker(quick);
  TestWorker& other = *other_owner;
  ScriptedHandler slow{[&](ScriptedHandler::Events events) {
    clock.advance(301s);
    const auto expired = store->expired_claims(10);
    store::SettleItem item{expired->at(0).claim, settle(0, Outcome::released(), {}, 0.5), {}, {}};
    EXPECT_TRUE(store->settle(std::span{&item, 1}));
    EXPECT_EQ(step(other).delivered, 1);
    return std::vector<Verdict>(events.size(), a_timeout());
  }};
  const auto subject_owner = worker(slow);
  TestWorker& subject = *subject_owner;
  const StepReport report = step(subject);
  EXPECT_EQ(report.fenced, 1);
  EXPECT_EQ(report.retried, 0);
  EXPECT_EQ(store.event(ids[0]).status, Status::delivered);
}

TEST_F(WorkerTest, OtherGenerationsAreLeftAlone) {
  auto event = test::an_event();
  event.generation = 2;
  const auto ids = store.publish({event});
  ScriptedHandler handler;
  const auto subject_owner = worker(handler);
  TestWorker& subject = *subject_owner;
  EXPECT_EQ(step(subject).claimed, 0);
  EXPECT_EQ(store.event(ids[0]).status, Status::pending);
}

TEST_F(WorkerTest, AFailedSettleIsTriedAgainBeforeAnythingIsClaimed) {
  const auto ids = store.publish(test::events(2));
  test::FaultyStore faulty{*store};
  ScriptedHandler handler;
  TestWorker subject{faulty, handler.handlers()};
  faulty.fail_call(3, test::Fault::before);  // claim, already_handled, settle
  EXPECT_FALSE(subject.step());
  EXPECT_EQ(store.event(ids[0]).status, Status::in_flight);
  const StepReport report = step(subject);
  EXPECT_EQ(report.delivered, 2);
  EXPECT_THAT(handler.delivered(), testing::SizeIs(2)) << "delivered once only";
  EXPECT_EQ(store.event(ids[0]).status, Status::delivered);
}

TEST_F(WorkerTest, ALostSettleAnswerCountsWhatTheLostCallDid) {
  store.publish(test::events(2));
  test::FaultyStore faulty{*store};
  ScriptedHandler handler;
  TestWorker subject{faulty, handler.handlers()};
  faulty.fail_call(3, test::Fault::after);
  EXPECT_FALSE(subject.step());
  const StepReport report = step(subject);
  EXPECT_EQ(report.delivered, 2);
  EXPECT_EQ(report.fenced, 0);
}

TEST_F(WorkerTest, AfterTooManyFailedSettlesTheClaimsAreLeftToExpire) {
  const auto ids = store.publish(test::events(1));
  test::FaultyStore faulty{*store};
  ScriptedHandler handler;
  WorkerOptions options = worker_options();
  options.settle_attempts = 3;
  TestWorker subject{faulty, handler.handlers(), {}, options};
  faulty.fail_call(3, test::Fault::before, 3);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(subject.step());
  EXPECT_EQ(step(subject).claimed, 0);
  EXPECT_EQ(store.event(ids[0]).status, Status::in_flight);
}

TEST_F(WorkerTest, WithoutAnAnswerOnDedupNothingRunsAndTheEventsGoBack) {
  const auto ids = store.publish(test::events(2));
  test::FaultyStore faulty{*store};
  ScriptedHandler handler;
  TestWorker subject{faulty, handler.handlers()};
  faulty.fail_call(2, test::Fault::before);
  EXPECT_FALSE(subject.step());
  EXPECT_TRUE(handler.delivered().empty());
  EXPECT_EQ(store.event(ids[0]).status, Status::pending);
  EXPECT_EQ(store.event(ids[0]).attempts, 0);
  EXPECT_EQ(step(subject).delivered, 2);
}

TEST_F(WorkerTest, LogsOneLinePerEvent) {
  const auto ids = store.publish(test::events(1));
  std::vector<std::string> lines;
  const telemetry::Logger logger{[&](std::string_view line) { lines.emplace_back(line); }, {}};
  ScriptedHandler handler{always(a_timeout())};
  TestWorker subject{*store, handler.handlers(), logger};
  step(subject);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr(R"("level":"warn","message":"delivery failed, will retry")"));
  EXPECT_THAT(lines[0], HasSubstr(R"("generation":1)"));
  EXPECT_THAT(lines[0],
              HasSubstr("\"event_id\":\"" + ids[0].to_string() +
                        "\",\"event_type\":\"test.happened\","
                        "\"source\":\"tests\",\"target\":null,\"workspace_id\":null,\"attempts\":1,\"duration_ms\":"));
  EXPECT_THAT(
      lines[0],
      HasSubstr(R"("status_result":"retry","handler_name":"sluice.log","last_error":"TimeoutError: no answer")"));
}

TEST(WorkerOptions, ValidateNamesTheMember) {
  const auto field_of = [](auto change) {
    WorkerOptions options = worker_options();
    change(options);
    const auto checked = options.validate();
    return checked ? std::string{} : checked.error().field;
  };
  EXPECT_EQ(field_of([](WorkerOptions&) {}), "");
  EXPECT_EQ(field_of([](WorkerOptions& o) { o.generation = 0; }), "generation");
  EXPECT_EQ(field_of([](WorkerOptions& o) { o.identity = ""; }), "identity");
  EXPECT_EQ(field_of([](WorkerOptions& o) { o.batch_min = 0; }), "batch_min");
  EXPECT_EQ(field_of([](WorkerOptions& o) { o.batch_max = 9; }), "batch_max");
  EXPECT_EQ(field_of([](WorkerOptions& o) { o.ttl = 0s; }), "ttl");
  EXPECT_EQ(field_of([](WorkerOptions& o) { o.uniform01 = {}; }), "uniform01");
  EXPECT_EQ(field_of([](WorkerOptions& o) { o.settle_attempts = 0; }), "settle_attempts");
}

// The reaper of another process may be more patient than the handler.
TEST(WorkerAttempts, AHandlerThatIsOutOfAttemptsIsNotRunAgain) {
  ManualClock clock;
  TestStore store{[&clock] { return clock.now(); }};
  ScriptedHandler handler{always(a_timeout())};
  handler.retry.max_attempts = 2;
  TestWorker worker{*store, handler.handlers()};
  const auto ids = store.publish(test::events(1));
  ASSERT_TRUE(worker.step());
  clock.advance(1h);
  store::ClaimRequest request;
  request.worker = "gone:1";
  ASSERT_EQ(store->claim(request)->size(), 1U);
  clock.advance(301s);
  RetryPolicy patient = without_jitter();
  patient.max_attempts = 10;
  ASSERT_TRUE(Reaper(*store, *store, *store, {}, {patient, [] { return 0.5; }}).step(10));
  ASSERT_EQ(store.event(ids[0]).attempts, 2);
  clock.advance(1h);
  ASSERT_TRUE(worker.step());
  const auto event = store.event(ids[0]);
  EXPECT_EQ(event.status, Status::failed);
  EXPECT_EQ(event.attempts, 2);
  EXPECT_EQ(event.last_error, "TimeoutError: no answer; then the claim expired");
  EXPECT_EQ(handler.delivered().size(), 1U);
}

}  // namespace
}  // namespace sluice::runtime
