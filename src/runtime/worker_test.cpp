#include "runtime/worker.hpp"

#include <gmock/gmock.h>
#include <stdexcept>

#include "runtime/runtime_fixture.hpp"
#include "tests/support/faulty_store.hpp"

namespace sluice::runtime {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class WorkerTest : public testing::Test {
 protected:
  Worker worker(sink::Sink& sink, const WorkerOptions& options = worker_options()) {
    return Worker{*store, sink, {}, options};
  }

  static StepReport step(Worker& worker) {
    const auto report = worker.step();
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : StepReport{};
  }

  ManualClock clock;
  TestStore store{[this] { return clock.now(); }};
};

TEST_F(WorkerTest, DeliversAndRecordsWhoHandled) {
  const auto ids = store.publish(test::events(3));
  ScriptedSink sink;
  Worker subject = worker(sink);
  const StepReport report = step(subject);
  EXPECT_EQ(report.claimed, 3);
  EXPECT_EQ(report.delivered, 3);
  EXPECT_THAT(sink.delivered(), testing::UnorderedElementsAreArray(ids));
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
  ScriptedSink sink;
  WorkerOptions options = worker_options();
  options.batch_max = 30;
  Worker subject = worker(sink, options);
  while (step(subject).claimed > 0) continue;
  EXPECT_THAT(sink.batches(), ElementsAre(10U, 20U, 30U, 30U, 5U));
  store.publish(test::events(15));
  while (step(subject).claimed > 0) continue;
  EXPECT_THAT(sink.batches(), ElementsAre(10U, 20U, 30U, 30U, 5U, 10U, 5U));
}

TEST_F(WorkerTest, ATransientFailureIsRetriedLaterAndTheFifthFails) {
  const auto ids = store.publish(test::events(1));
  ScriptedSink sink{always(a_timeout())};
  Worker subject = worker(sink);
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
  ScriptedSink sink{[&](std::span<const store::ClaimedEvent> events) {
    std::vector<Outcome> outcomes;
    for (const auto& event : events) {
      const bool bad = event.envelope.event_id() == ids[0];
      outcomes.push_back(bad ? Outcome::failed(Failure{"PayloadError", "total is missing", {}, false})
                             : Outcome::handled());
    }
    return outcomes;
  }};
  Worker subject = worker(sink);
  const StepReport report = step(subject);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.delivered, 1);
  EXPECT_EQ(store.event(ids[0]).status, Status::failed);
  EXPECT_EQ(store.event(ids[1]).status, Status::delivered);
}

TEST_F(WorkerTest, AThrowingSinkIsATransientFailure) {
  const auto ids = store.publish(test::events(2));
  ScriptedSink sink{
      [](std::span<const store::ClaimedEvent>) -> std::vector<Outcome> { throw std::runtime_error("boom"); }};
  Worker subject = worker(sink);
  EXPECT_EQ(step(subject).retried, 2);
  EXPECT_EQ(store.event(ids[0]).last_error, "Error: boom");

  clock.advance(1s);
  ScriptedSink odd{[](std::span<const store::ClaimedEvent>) -> std::vector<Outcome> { throw 7; }};
  Worker other = worker(odd);
  EXPECT_EQ(step(other).retried, 2);
}

TEST_F(WorkerTest, ASinkThatMiscountsIsATransientFailure) {
  const auto ids = store.publish(test::events(2));
  ScriptedSink sink{[](std::span<const store::ClaimedEvent>) { return std::vector<Outcome>(1, Outcome::handled()); }};
  Worker subject = worker(sink);
  EXPECT_EQ(step(subject).retried, 2);
  EXPECT_EQ(store.event(ids[1]).last_error, "Error: the sink gave 1 outcomes for 2 events");
}

TEST_F(WorkerTest, WhatIsHandledAlreadyIsAcknowledgedWithoutRunning) {
  EnvelopeDraft draft = test::a_draft();
  draft.idempotency_key = "same";
  store.publish({test::an_event(draft)});
  ScriptedSink sink;
  Worker subject = worker(sink);
  step(subject);
  ASSERT_EQ(sink.delivered().size(), 1U);

  draft.event_id = test::new_id();
  const auto again = store.publish({test::an_event(draft), test::an_event()});
  const StepReport report = step(subject);
  EXPECT_EQ(report.delivered, 2);
  EXPECT_EQ(report.deduplicated, 1);
  EXPECT_THAT(sink.delivered(), testing::SizeIs(2));
  EXPECT_EQ(sink.delivered().back(), again[1]);
  EXPECT_EQ(store.event(again[0]).status, Status::delivered);
}

TEST_F(WorkerTest, ADeferredEventWaitsUncounted) {
  const auto ids = store.publish(test::events(1));
  bool defer = true;
  ScriptedSink sink{[&](std::span<const store::ClaimedEvent> events) {
    return std::vector<Outcome>(events.size(), defer ? Outcome::deferred(clock.now() + 1h) : Outcome::handled());
  }};
  Worker subject = worker(sink);
  EXPECT_EQ(step(subject).released, 1);
  EXPECT_EQ(store.event(ids[0]).attempts, 0);
  EXPECT_EQ(step(subject).claimed, 0);
  defer = false;
  clock.advance(1h);
  EXPECT_EQ(step(subject).delivered, 1);
}

TEST_F(WorkerTest, ALostClaimIsFencedAndCounted) {
  const auto ids = store.publish(test::events(1));
  // While the sink is busy the claim runs out, and another worker delivers the event.
  ScriptedSink quick;
  Worker other = worker(quick);
  ScriptedSink slow{[&](std::span<const store::ClaimedEvent> events) {
    clock.advance(301s);
    const auto expired = store->expired_claims(10);
    store::SettleItem item{expired->at(0).claim, settle(0, Outcome::released(), {}, 0.5), {}, {}};
    EXPECT_TRUE(store->settle(std::span{&item, 1}));
    EXPECT_EQ(step(other).delivered, 1);
    return std::vector<Outcome>(events.size(), a_timeout());
  }};
  Worker subject = worker(slow);
  const StepReport report = step(subject);
  EXPECT_EQ(report.fenced, 1);
  EXPECT_EQ(report.retried, 0);
  EXPECT_EQ(store.event(ids[0]).status, Status::delivered);
}

TEST_F(WorkerTest, OtherGenerationsAreLeftAlone) {
  auto event = test::an_event();
  event.generation = 2;
  const auto ids = store.publish({event});
  ScriptedSink sink;
  Worker subject = worker(sink);
  EXPECT_EQ(step(subject).claimed, 0);
  EXPECT_EQ(store.event(ids[0]).status, Status::pending);
}

TEST_F(WorkerTest, AFailedSettleIsTriedAgainBeforeAnythingIsClaimed) {
  const auto ids = store.publish(test::events(2));
  test::FaultyStore faulty{*store};
  ScriptedSink sink;
  Worker subject{faulty, sink, {}, worker_options()};
  faulty.fail_call(3, test::Fault::before);  // claim, already_handled, settle
  EXPECT_FALSE(subject.step());
  EXPECT_EQ(store.event(ids[0]).status, Status::in_flight);
  const StepReport report = step(subject);
  EXPECT_EQ(report.delivered, 2);
  EXPECT_THAT(sink.delivered(), testing::SizeIs(2)) << "delivered once only";
  EXPECT_EQ(store.event(ids[0]).status, Status::delivered);
}

TEST_F(WorkerTest, ALostSettleAnswerCountsWhatTheLostCallDid) {
  store.publish(test::events(2));
  test::FaultyStore faulty{*store};
  ScriptedSink sink;
  Worker subject{faulty, sink, {}, worker_options()};
  faulty.fail_call(3, test::Fault::after);
  EXPECT_FALSE(subject.step());
  const StepReport report = step(subject);
  EXPECT_EQ(report.delivered, 2);
  EXPECT_EQ(report.fenced, 0);
}

TEST_F(WorkerTest, AfterTooManyFailedSettlesTheClaimsAreLeftToExpire) {
  const auto ids = store.publish(test::events(1));
  test::FaultyStore faulty{*store};
  ScriptedSink sink;
  WorkerOptions options = worker_options();
  options.settle_attempts = 3;
  Worker subject{faulty, sink, {}, options};
  faulty.fail_call(3, test::Fault::before, 3);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(subject.step());
  EXPECT_EQ(step(subject).claimed, 0);
  EXPECT_EQ(store.event(ids[0]).status, Status::in_flight);
}

TEST_F(WorkerTest, WithoutAnAnswerOnDedupNothingRunsAndTheEventsGoBack) {
  const auto ids = store.publish(test::events(2));
  test::FaultyStore faulty{*store};
  ScriptedSink sink;
  Worker subject{faulty, sink, {}, worker_options()};
  faulty.fail_call(2, test::Fault::before);
  EXPECT_FALSE(subject.step());
  EXPECT_TRUE(sink.delivered().empty());
  EXPECT_EQ(store.event(ids[0]).status, Status::pending);
  EXPECT_EQ(store.event(ids[0]).attempts, 0);
  EXPECT_EQ(step(subject).delivered, 2);
}

TEST_F(WorkerTest, LogsOneLinePerEvent) {
  const auto ids = store.publish(test::events(1));
  std::vector<std::string> lines;
  const telemetry::Logger logger{[&](std::string_view line) { lines.emplace_back(line); }, {}};
  ScriptedSink sink{always(a_timeout())};
  Worker subject{*store, sink, logger, worker_options()};
  step(subject);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr(R"("level":"warn","message":"event handled")"));
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
  EXPECT_EQ(field_of([](WorkerOptions& o) { o.handler_name = "log"; }), "handler_name");
  EXPECT_EQ(field_of([](WorkerOptions& o) { o.batch_min = 0; }), "batch_min");
  EXPECT_EQ(field_of([](WorkerOptions& o) { o.batch_max = 9; }), "batch_max");
  EXPECT_EQ(field_of([](WorkerOptions& o) { o.ttl = 0s; }), "ttl");
  EXPECT_EQ(field_of([](WorkerOptions& o) { o.uniform01 = {}; }), "uniform01");
  EXPECT_EQ(field_of([](WorkerOptions& o) { o.settle_attempts = 0; }), "settle_attempts");
  EXPECT_EQ(field_of([](WorkerOptions& o) { o.retry.base = 0s; }), "base");
}

}  // namespace
}  // namespace sluice::runtime
