#include "ops/publish_event.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_store.hpp"

namespace sluice::ops {
namespace {

using testing::HasSubstr;

constexpr Timestamp kPublishedAt{std::chrono::seconds{1'780'000'000}};

host::Entropy fixed_entropy() {
  return {[] { return kPublishedAt; }, [] { return std::array<std::uint8_t, 10>{1, 2, 3}; }};
}

PublishRequest a_request() {
  PublishRequest request;
  request.event_type = "demo.hello";
  request.source = "demo";
  return request;
}

TEST(PublishEvent, FillsWhatThePublisherLeavesOut) {
  EventPublishing publishing{fixed_entropy(), {}};
  const auto event = publishing.prepare(a_request(), 7);
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->envelope.event_id().version(), 7);
  EXPECT_EQ(event->envelope.idempotency_key(), event->envelope.event_id().to_string());
  EXPECT_EQ(event->envelope.occurred_at(), kPublishedAt);
  EXPECT_EQ(event->envelope.payload(), "{}");
  EXPECT_EQ(event->generation, 7);
  EXPECT_EQ(event->channel, "outbox_gen_7");
  EXPECT_EQ(event->content_class, "default");
}

TEST(PublishEvent, KeepsWhatThePublisherGives) {
  PublishRequest request = a_request();
  request.id = test::id_of(9);
  request.target = "worlds";
  request.payload = R"({"n": 1.50})";
  request.idempotency_key = "key";
  request.ordering_key = "customer-7";
  request.processing_class = "hot";
  request.content_class = "blob";
  request.delay = std::chrono::seconds{5};
  EventPublishing publishing{fixed_entropy(), {}};
  const auto event = publishing.prepare(request, 3);
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->envelope.event_id(), test::id_of(9));
  EXPECT_EQ(event->envelope.target(), "worlds");
  EXPECT_EQ(event->envelope.payload(), R"({"n": 1.50})");
  EXPECT_EQ(event->envelope.idempotency_key(), "key");
  EXPECT_EQ(event->ordering_key, "customer-7");
  EXPECT_EQ(event->channel, "outbox_gen_3_hot");
  EXPECT_EQ(event->content_class, "blob");
  EXPECT_EQ(event->delay, std::chrono::seconds{5});
}

TEST(PublishEvent, IdsOfOnePublisherNeverGoBackwards) {
  EventPublishing publishing{fixed_entropy(), {}};
  const auto first = publishing.prepare(a_request(), 1);
  const auto second = publishing.prepare(a_request(), 1);
  EXPECT_LT(first->envelope.event_id(), second->envelope.event_id());
}

TEST(PublishEvent, NamesTheFieldThatIsWrong) {
  EventPublishing publishing{fixed_entropy(), {.payload_bytes = 10}};
  const auto field = [&](auto change) {
    PublishRequest request = a_request();
    change(request);
    const auto event = publishing.prepare(request, 1);
    return event ? std::string{"accepted"} : event.error().field;
  };
  EXPECT_EQ(field([](auto& r) { r.event_type = ""; }), "event_type");
  EXPECT_EQ(field([](auto& r) { r.source = "Not A Context"; }), "source");
  EXPECT_EQ(field([](auto& r) { r.payload = "[1]"; }), "payload");
  EXPECT_EQ(field([](auto& r) { r.payload = R"({"long":"payload"})"; }), "payload");
  EXPECT_EQ(field([](auto& r) { r.ordering_key = ""; }), "ordering_key");
  EXPECT_EQ(field([](auto& r) { r.content_class = ""; }), "content_class");
  EXPECT_EQ(field([](auto& r) { r.trace_context = "nonsense"; }), "trace_context");
  EXPECT_EQ(field([](auto& r) {
              r.delay = std::chrono::seconds{1};
              r.not_before = kPublishedAt;
            }),
            "delay");
  EXPECT_NE(field([](auto& r) { r.processing_class = std::string(80, 'x'); }), "accepted");
}

TEST(PublishEvent, TellsADuplicateFromANewEvent) {
  test::EmbeddedStore store;
  EventPublishing publishing{fixed_entropy(), {}};
  const auto event = publishing.prepare(a_request(), 1);
  EXPECT_EQ(publish_event(*store, *event)->outcome, store::PublishOutcome::published);
  EXPECT_EQ(publish_event(*store, *event)->outcome, store::PublishOutcome::duplicate);
  EXPECT_EQ(store.events().size(), 1U);
}

TEST(PublishEvent, ALostCommitIsUnknownAndSaysHowToRepeatIt) {
  test::EmbeddedStore store;
  test::FaultyStore faulty{*store};
  faulty.fail_verb("publish", {ErrorCode::unavailable, Retry::in_doubt, "connection lost", "", ""});
  EventPublishing publishing{fixed_entropy(), {}};
  const auto event = publishing.prepare(a_request(), 1);
  const auto published = publish_event(faulty, *event);
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().retry, Retry::in_doubt);
  EXPECT_THAT(published.error().message, HasSubstr("unknown: the answer to COMMIT was lost"));
  EXPECT_THAT(published.error().hint, HasSubstr(event->envelope.event_id().to_string()));
}

TEST(PublishEvent, AnotherErrorIsPassedOn) {
  test::EmbeddedStore store;
  test::FaultyStore faulty{*store};
  faulty.fail_verb("publish", {ErrorCode::read_only, Retry::never, "the file is read-only", "", ""});
  EventPublishing publishing{fixed_entropy(), {}};
  const auto published = publish_event(faulty, *publishing.prepare(a_request(), 1));
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().message, "the file is read-only");
}

}  // namespace
}  // namespace sluice::ops
