#include "sink/broker/broker_sink.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/recording_tracer.hpp"

namespace sluice::sink {
namespace {

using testing::Contains;
using testing::Pair;

constexpr const char* kEventTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
constexpr const char* kRunTrace = "00-0af7651916cd43dd8448eb211c80319c-00000000000000aa-01";

EventEnvelope carried_event() {
  EnvelopeDraft draft;
  draft.event_id = *Uuid::parse("01890a5d-ac96-774b-bcce-b302099a8057");
  draft.event_type = "order.paid";
  draft.source = "billing";
  draft.payload = R"({"n":1})";
  return EventEnvelope::trusted(draft);
}

std::vector<std::string> traceparents_of(const broker::OutgoingMessage& message) {
  std::vector<std::string> all;
  for (const auto& [name, value] : message.headers) {
    if (name == "traceparent") all.push_back(value);
  }
  return all;
}

// Answers as it is told, and keeps what came.
class ScriptedBroker final : public broker::Publisher {
 public:
  explicit ScriptedBroker(std::vector<broker::OutgoingMessage>& came, std::optional<Error>& trouble)
      : came_(came), trouble_(trouble) {}
  std::vector<Result<broker::Taken>> publish(std::span<const broker::OutgoingMessage> messages, Duration,
                                             const std::stop_token&) override {
    came_.insert(came_.end(), messages.begin(), messages.end());
    if (trouble_) return std::vector<Result<broker::Taken>>(messages.size(), *trouble_);
    return std::vector<Result<broker::Taken>>(messages.size(), broker::Taken{true});
  }

 private:
  std::vector<broker::OutgoingMessage>& came_;
  std::optional<Error>& trouble_;
};

class BrokerSinkTest : public testing::Test {
 protected:
  BrokerSinkOptions options() {
    BrokerSinkOptions made;
    made.name = "bus";
    made.kind = "nats";
    made.target = "nats://127.0.0.1:4222";
    made.broker = std::make_unique<ScriptedBroker>(came, trouble);
    made.address = *AddressTemplate::parse("events.{type}", "subject");
    made.breaker = {.failures = 3, .rest = std::chrono::seconds{30}};
    made.clock = [this] { return now; };
    return made;
  }
  std::vector<Verdict> deliver(Sink& sink, std::size_t count) {
    const std::vector<EventEnvelope> events(count, carried_event());
    return sink.deliver(events, {"tests.bus", 3, std::vector<int>(count), stop.get_token()});
  }
  std::vector<Verdict> deliver_traced(Sink& sink) {
    const EventEnvelope event = carried_event().with_trace_context(kEventTrace);
    Delivery delivery{"tests.bus", 3, {0}, stop.get_token()};
    delivery.traceparents = {kRunTrace};
    return sink.deliver({&event, 1}, delivery);
  }

  Timestamp now{std::chrono::hours{1}};
  std::vector<broker::OutgoingMessage> came;
  std::optional<Error> trouble;
  std::stop_source stop;
};

TEST_F(BrokerSinkTest, AMessageHasTheIdOfItsEventAndItsSink) {
  BrokerSinkOptions made = options();
  const auto message = message_of(carried_event(), 3, made);
  EXPECT_EQ(message.id, "01890a5d-ac96-774b-bcce-b302099a8057:bus");
  EXPECT_EQ(message.address, "events.order.paid");
  EXPECT_EQ(message.body, R"({"n":1})");
  EXPECT_THAT(message.headers, Contains(Pair("ce-id", "01890a5d-ac96-774b-bcce-b302099a8057")));
  EXPECT_THAT(message.headers, Contains(Pair("ce-type", "order.paid")));
  EXPECT_THAT(message.headers, Contains(Pair("ce-datacontenttype", "application/json")));
  made.format = MessageFormat::cloudevents_structured;
  EXPECT_THAT(message_of(carried_event(), 3, made).body, testing::HasSubstr(R"("specversion":"1.0")"));
  made.format = MessageFormat::envelope;
  EXPECT_EQ(message_of(carried_event(), 3, made).body, carried_event().to_json());
}

TEST_F(BrokerSinkTest, WhatIsSentAgainHasAnIdOfItsOwn) {
  const auto sink = open_broker_sink(options());
  const std::vector<EventEnvelope> events(2, carried_event());
  Delivery delivery{"tests.bus", 3, {0, 0}, stop.get_token()};
  delivery.replays = {0, 2};
  sink->deliver(events, delivery);
  EXPECT_EQ(came[0].id, "01890a5d-ac96-774b-bcce-b302099a8057:bus");
  EXPECT_EQ(came[1].id, "01890a5d-ac96-774b-bcce-b302099a8057:bus:2");
}

TEST_F(BrokerSinkTest, ADuplicateIsDelivered) {
  const auto sink = open_broker_sink(options());
  EXPECT_EQ(deliver(*sink, 2)[1].kind, Verdict::Kind::handled);
  EXPECT_EQ(came.size(), 2U);
  EXPECT_EQ(sink->status().delivered, 2);
}

TEST_F(BrokerSinkTest, WhatWillNeverBeTakenFailsAtOnceAndIsNobodysTrouble) {
  const auto sink = open_broker_sink(options());
  trouble = Error{ErrorCode::invalid, Retry::never, "too large", "body", "make it smaller"};
  for (int i = 0; i < 5; ++i) {
    const auto verdicts = deliver(*sink, 1);
    EXPECT_TRUE(verdicts[0].terminal);
    EXPECT_EQ(verdicts[0].error_class, "message_too_large");
    EXPECT_EQ(verdicts[0].message, "too large; make it smaller");
  }
  EXPECT_EQ(sink->status().state, SinkState::active);
}

TEST_F(BrokerSinkTest, AnyOtherTroubleIsTriedAgain) {
  for (const ErrorCode code : {ErrorCode::not_found, ErrorCode::forbidden, ErrorCode::exhausted, ErrorCode::timeout,
                               ErrorCode::unavailable, ErrorCode::conflict}) {
    const Verdict verdict = verdict_of(Error{code, Retry::safe, "trouble", {}, {}});
    EXPECT_EQ(verdict.kind, Verdict::Kind::failed);
    EXPECT_FALSE(verdict.terminal);
  }
}

TEST_F(BrokerSinkTest, WhileTheBrokerIsAwayOneEventAsksAndTheOthersWait) {
  const auto sink = open_broker_sink(options());
  trouble = Error{ErrorCode::unavailable, Retry::safe, "away", {}, {}};
  EXPECT_EQ(deliver(*sink, 3)[2].kind, Verdict::Kind::failed);
  EXPECT_EQ(sink->status().state, SinkState::open);
  came.clear();
  EXPECT_EQ(deliver(*sink, 3)[0].kind, Verdict::Kind::deferred);
  EXPECT_TRUE(came.empty());
  now += std::chrono::seconds{31};
  const auto verdicts = deliver(*sink, 3);
  EXPECT_EQ(came.size(), 1U);
  EXPECT_EQ(verdicts[0].kind, Verdict::Kind::failed);
  EXPECT_EQ(verdicts[2].kind, Verdict::Kind::deferred);
  now += std::chrono::seconds{31};
  trouble.reset();
  EXPECT_EQ(deliver(*sink, 3)[0].kind, Verdict::Kind::handled);
  EXPECT_EQ(sink->status().state, SinkState::active);
  ASSERT_EQ(sink->take_news().size(), 3U) << "opened, opened again, closed";
}

TEST_F(BrokerSinkTest, AStopIsNoFailure) {
  const auto sink = open_broker_sink(options());
  trouble = Error{ErrorCode::timeout, Retry::in_doubt, "no answer", {}, {}};
  stop.request_stop();
  EXPECT_EQ(deliver(*sink, 1)[0].kind, Verdict::Kind::stopped);
}

TEST_F(BrokerSinkTest, AMessageIsASpanOfItsRunAndCarriesItOn) {
  test::RecordingTracer tracer;
  BrokerSinkOptions made = options();
  made.tracer = &tracer;
  const auto sink = open_broker_sink(std::move(made));
  EXPECT_EQ(deliver_traced(*sink)[0].kind, Verdict::Kind::handled);
  const auto spans = tracer.spans();
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].name, "send events.order.paid");
  EXPECT_EQ(spans[0].kind, SpanKind::producer);
  EXPECT_EQ(spans[0].parent, kRunTrace);
  EXPECT_EQ(spans[0].error_type, "");
  EXPECT_THAT(spans[0].attributes,
              testing::UnorderedElementsAre(Pair("messaging.system", "nats"), Pair("messaging.operation.name", "send"),
                                            Pair("messaging.operation.type", "send"),
                                            Pair("messaging.destination.name", "events.order.paid"),
                                            Pair("messaging.message.id", came[0].id), Pair("sluice.sink", "bus")));
  EXPECT_THAT(traceparents_of(came[0]), testing::ElementsAre(spans[0].traceparent)) << "once, and not the event's own";
}

TEST_F(BrokerSinkTest, WhatTheBrokerDoesNotTakeFailsItsSpan) {
  test::RecordingTracer tracer;
  BrokerSinkOptions made = options();
  made.tracer = &tracer;
  const auto sink = open_broker_sink(std::move(made));
  trouble = Error{ErrorCode::exhausted, Retry::safe, "full", {}, "let its consumers catch up"};
  deliver_traced(*sink);
  EXPECT_EQ(tracer.spans().at(0).error_type, "broker_full");
  EXPECT_EQ(tracer.spans().at(0).message, "full; let its consumers catch up");
}

TEST_F(BrokerSinkTest, WithoutATracerTheTraceGoesOnAllTheSame) {
  const auto sink = open_broker_sink(options());
  deliver_traced(*sink);
  EXPECT_THAT(traceparents_of(came[0]), testing::ElementsAre(kRunTrace));
  const EventEnvelope event = carried_event().with_trace_context(kEventTrace);
  EXPECT_THAT(traceparents_of(message_of(event, 3, options())), testing::ElementsAre(kEventTrace));
  const EventEnvelope odd = carried_event().with_trace_context("00-no\r\ntrace");
  EXPECT_THAT(traceparents_of(message_of(odd, 3, options())), testing::IsEmpty());
}

TEST_F(BrokerSinkTest, AProbeSaysWhereItsMessageWent) {
  const auto sink = open_broker_sink(options());
  const ProbeReport report = sink->probe(carried_event());
  EXPECT_TRUE(report.ok);
  EXPECT_EQ(report.status, "taken");
  EXPECT_EQ(report.detail, "on events.order.paid");
  trouble = Error{ErrorCode::not_found, Retry::safe, "no stream", {}, "make one"};
  EXPECT_EQ(sink->probe(carried_event()).status, "no_stream");
}

}  // namespace
}  // namespace sluice::sink
