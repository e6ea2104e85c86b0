#include "runtime/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/recording_tracer.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace sluice::runtime {
namespace {

using test::RecordedSpan;
using test::RecordingTracer;
using testing::ElementsAre;
using testing::IsEmpty;

std::string trace_number(int number) {
  return TraceContext{7, 7, std::uint64_t(number), TraceContext::kSampled}.traceparent();
}

store::NewEvent traced_event(int number, const std::string& type = "test.happened") {
  EnvelopeDraft draft = test::a_draft(type);
  draft.trace_context = trace_number(number);
  return test::an_event(std::move(draft));
}

class TraceTest : public ::testing::Test {
 protected:
  HandlerSet only(EventHandler handler) {
    HandlerSet set;
    EXPECT_TRUE(set.add(
        {.subscription = {.handler_name = "test.handler"}, .handler = std::move(handler), .retry = without_jitter()}));
    return set;
  }
  TestWorker worker(HandlerSet handlers) {
    WorkerOptions options = worker_options();
    return TestWorker{*store_, std::move(handlers), logger_, options, {}, nullptr, &tracer_};
  }

  ManualClock clock_;
  TestStore store_{[this] { return clock_.now(); }};
  RecordingTracer tracer_;
  std::vector<std::string> lines_;
  telemetry::Logger logger_{[this](std::string_view line) { lines_.emplace_back(line); }, {}};
};

TEST_F(TraceTest, OneEventHasClaimProcessAndSettleInItsTrace) {
  store_.publish({traced_event(1)});
  std::string seen;
  std::string current;
  auto own = worker(only([&](const EventEnvelope&, const Delivery& delivery) {
    seen = delivery.traceparent();
    current = RecordingTracer::current();
  }));
  ASSERT_TRUE(own.step());
  const auto spans = tracer_.spans();
  ASSERT_EQ(spans.size(), 3U);
  const RecordedSpan& claim = spans[0];
  const RecordedSpan& process = spans[1];
  const RecordedSpan& settle = spans[2];
  EXPECT_EQ(claim.name, "claim outbox_gen_1");
  EXPECT_EQ(claim.kind, SpanKind::client);
  EXPECT_EQ(claim.parent, trace_number(1));
  EXPECT_EQ(process.name, "process test.happened");
  EXPECT_EQ(process.kind, SpanKind::consumer);
  EXPECT_EQ(process.parent, trace_number(1));
  EXPECT_THAT(process.links, ElementsAre(claim.traceparent));
  EXPECT_EQ(process.attributes.at("messaging.system"), "sluice");
  EXPECT_EQ(process.attributes.at("messaging.operation.type"), "process");
  EXPECT_EQ(process.attributes.at("messaging.consumer.group.name"), "test.handler");
  EXPECT_EQ(process.attributes.at("sluice.attempt"), "1");
  EXPECT_EQ(process.attributes.at("sluice.outcome"), "handled");
  EXPECT_EQ(process.error_type, "");
  EXPECT_EQ(settle.name, "settle outbox_gen_1");
  EXPECT_EQ(settle.parent, process.traceparent);
  EXPECT_EQ(seen, process.traceparent);
  EXPECT_EQ(current, process.traceparent);
  EXPECT_EQ(RecordingTracer::current(), "");
}

TEST_F(TraceTest, EveryAttemptIsASpanWithItsError) {
  store_.publish({traced_event(1)});
  auto own = worker(only([](const EventEnvelope&) { throw HandlerError{"CardDeclined", "no money"}; }));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(own.step());
    clock_.advance(std::chrono::minutes{10});
  }
  const auto attempts = tracer_.spans("process");
  ASSERT_EQ(attempts.size(), 3U);
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    EXPECT_EQ(attempts[i].attributes.at("sluice.attempt"), std::to_string(i + 1));
    EXPECT_EQ(attempts[i].error_type, "CardDeclined");
    EXPECT_EQ(attempts[i].message, "no money");
    EXPECT_EQ(attempts[i].parent, trace_number(1));
  }
}

TEST_F(TraceTest, AClaimOfManyIsLinkedToThem) {
  store_.publish({traced_event(1), traced_event(2), test::an_event()});
  auto own = worker(only([](const EventEnvelope&) {}));
  ASSERT_TRUE(own.step());
  const RecordedSpan claim = tracer_.spans("claim").at(0);
  EXPECT_EQ(claim.parent, "");
  EXPECT_THAT(claim.links, ElementsAre(trace_number(1), trace_number(2)));
  EXPECT_EQ(claim.attributes.at("messaging.batch.message_count"), "3");
  const auto processed = tracer_.spans("process");
  ASSERT_EQ(processed.size(), 3U);
  const RecordedSpan settle = tracer_.spans("settle").at(0);
  EXPECT_THAT(settle.links, ElementsAre(processed[0].traceparent, processed[1].traceparent, processed[2].traceparent));
}

TEST_F(TraceTest, ABatchHandlerHasOneSpanLinkedToItsEvents) {
  store_.publish({traced_event(1), traced_event(2)});
  std::string seen;
  auto own = worker(only([&](std::span<const EventEnvelope> events, const Delivery& delivery) {
    EXPECT_EQ(delivery.traceparent(0), delivery.traceparent(1));
    seen = delivery.traceparent();
    std::vector<Verdict> verdicts(events.size());
    verdicts[1] = Verdict::failed("Oops", "the second");
    return verdicts;
  }));
  ASSERT_TRUE(own.step());
  const auto processed = tracer_.spans("process");
  ASSERT_EQ(processed.size(), 1U);
  EXPECT_EQ(processed[0].parent, "");
  EXPECT_EQ(processed[0].traceparent, seen);
  EXPECT_THAT(processed[0].links,
              ElementsAre(trace_number(1), trace_number(2), tracer_.spans("claim").at(0).traceparent));
  EXPECT_EQ(processed[0].attributes.at("sluice.failed_events"), "1");
  EXPECT_EQ(processed[0].error_type, "Oops");
}

TEST_F(TraceTest, AHandlerThatDeliversEachHasASpanPerEvent) {
  store_.publish({traced_event(1), traced_event(2)});
  std::vector<std::string> seen;
  HandlerSet handlers;
  ASSERT_TRUE(handlers.add({.subscription = {.handler_name = "test.sink"},
                            .handler =
                                [&](std::span<const EventEnvelope> events, const Delivery& delivery) {
                                  for (std::size_t i = 0; i < events.size(); ++i) {
                                    seen.emplace_back(delivery.traceparent(i));
                                  }
                                },
                            .retry = without_jitter(),
                            .delivers_each = true}));
  auto own = worker(std::move(handlers));
  ASSERT_TRUE(own.step());
  const auto processed = tracer_.spans("process");
  ASSERT_EQ(processed.size(), 2U);
  EXPECT_EQ(processed[0].parent, trace_number(1));
  EXPECT_EQ(processed[1].parent, trace_number(2));
  EXPECT_THAT(seen, ElementsAre(processed[0].traceparent, processed[1].traceparent));
}

TEST_F(TraceTest, CoroutinesSeeTheirOwnSpan) {
  store_.publish({traced_event(1), traced_event(2)});
  std::vector<std::string> seen;
  auto own = worker(only([&](const EventEnvelope&, const Delivery& delivery) -> Task {
    seen.emplace_back(delivery.traceparent());
    co_return;
  }));
  ASSERT_TRUE(own.step());
  const auto processed = tracer_.spans("process");
  ASSERT_EQ(processed.size(), 2U);
  EXPECT_THAT(seen, ElementsAre(processed[0].traceparent, processed[1].traceparent));
}

TEST_F(TraceTest, AnEffectAndItsSettleAreTraced) {
  store_.publish({traced_event(1)});
  std::string seen;
  auto own = worker(
      only([&](const EventEnvelope&, Transaction&, const Delivery& delivery) { seen = delivery.traceparent(); }));
  ASSERT_TRUE(own.step());
  const RecordedSpan process = tracer_.spans("process").at(0);
  EXPECT_EQ(process.traceparent, seen);
  EXPECT_EQ(tracer_.spans("settle").at(0).parent, process.traceparent);
}

TEST_F(TraceTest, NothingIsToldOfAClaimThatFoundNothing) {
  auto own = worker(only([](const EventEnvelope&) {}));
  ASSERT_TRUE(own.step());
  EXPECT_THAT(tracer_.spans(), IsEmpty());
}

TEST_F(TraceTest, TheLogNamesTheSpanOfTheRun) {
  store_.publish({traced_event(1)});
  auto own = worker(only([](const EventEnvelope&) {}));
  ASSERT_TRUE(own.step());
  const auto context = parse_traceparent(tracer_.spans("process").at(0).traceparent);
  EXPECT_THAT(lines_,
              testing::Contains(testing::HasSubstr("\"trace_id\":\"" + context->trace_id() + "\",\"span_id\":\"" +
                                                   context->span_id_text() + "\",\"event_id\"")));
}

}  // namespace
}  // namespace sluice::runtime
