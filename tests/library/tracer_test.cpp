// An application's own tracer, through the public library.
#include <gmock/gmock.h>

#include "tests/library/public_api.hpp"
#include "tests/support/recording_tracer.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kRequest = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

class OwnTracer : public PublicApi {
 protected:
  EventPublisher traced_publisher() { return required(EventPublisher::open({.store = store(), .tracer = tracer_})); }
  EventEnvelope an_event(std::optional<std::string> trace_context = std::nullopt) {
    EnvelopeDraft draft = publisher().draft();
    draft.event_type = "test.happened";
    draft.source = "tests";
    draft.trace_context = std::move(trace_context);
    return required(EventEnvelope::make(draft));
  }

  std::shared_ptr<RecordingTracer> tracer_ = std::make_shared<RecordingTracer>();
};

TEST_F(OwnTracer, APublishWithinARequestIsItsChildAndIsContinuedByTheHandler) {
  auto own = traced_publisher();
  RecordingTracer::current() = kRequest;
  required(own.publish(an_event()));
  RecordingTracer::current().clear();
  const RecordedSpan publish = tracer_->spans().at(0);
  EXPECT_EQ(publish.name, "publish test.happened");
  EXPECT_EQ(publish.kind, SpanKind::producer);
  EXPECT_EQ(publish.parent, kRequest);

  Notes seen;
  auto listener = required(EventListener::open({.store = store(), .tracer = tracer_}));
  required(
      listener.listen({.handler_name = "tests.handler"}, [&](const EventEnvelope& given, const Delivery& delivery) {
        EXPECT_EQ(given.trace_context(), publish.traceparent);
        seen.add(std::string{delivery.traceparent()});
      }));
  required(listener.start());
  seen.await(1);
  listener.stop();
  const RecordedSpan process = tracer_->spans("process").at(0);
  EXPECT_EQ(process.parent, publish.traceparent);
  EXPECT_THAT(seen.all(), ElementsAre(process.traceparent));
}

TEST_F(OwnTracer, AnEventKeepsTheTraceContextThatItWasGiven) {
  auto own = traced_publisher();
  const EventEnvelope given = an_event(kRequest);
  required(own.publish(given));
  const RecordedSpan publish = tracer_->spans().at(0);
  EXPECT_EQ(publish.parent, kRequest);
  EXPECT_EQ(publish.attributes.at("messaging.message.id"), given.event_id().to_string());
  const OwnConnection connection{file()};
  EXPECT_EQ(connection.run("select trace_context from outbox"), kRequest);
}

TEST_F(OwnTracer, APublishOfManyIsOneSpanLinkedToWhatTheyBring) {
  auto own = traced_publisher();
  const std::vector<EventEnvelope> events{an_event(kRequest), an_event()};
  required(own.publish(events));
  const auto spans = tracer_->spans();
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].parent, "");
  EXPECT_THAT(spans[0].links, ElementsAre(kRequest));
  EXPECT_EQ(spans[0].attributes.at("messaging.batch.message_count"), "2");
}

TEST_F(OwnTracer, APublishThatFailsSaysSo) {
  auto own = traced_publisher();
  const OwnConnection connection{file()};
  connection.run("alter table outbox rename to gone");
  EXPECT_FALSE(own.publish(an_event()));
  const auto spans = tracer_->spans();
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_NE(spans[0].error_type, "");
}

TEST_F(OwnTracer, NothingIsTracedWithoutOne) {
  required(publisher().publish(an_event()));
  EXPECT_THAT(tracer_->spans(), IsEmpty());
}

}  // namespace
}  // namespace sluice::test
