#include "ops/publish_event.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/embedded_store.hpp"
#include "tests/support/faulty_administering.hpp"

namespace sluice::ops {
namespace {

using namespace std::chrono_literals;
using cloudevents::CloudEvent;

std::string refused_field(std::string_view json) {
  const auto request = publish_request(json);
  return request ? std::string{} : request.error().field;
}

TEST(PublishRequestJson, EveryMemberIsTaken) {
  const auto request = publish_request(
      R"({"event_type":"a.b","event_version":2,"event_id":"01890a5d-ac96-774b-bcce-b302099a8057",)"
      R"("occurred_at":"2026-04-25T01:43:02Z","source":"demo","target":"worlds",)"
      R"("workspace_id":"f47ac10b-58cc-4372-a567-0e02b2c3d479","payload":{"n" : 1.10},"idempotency_key":"k",)"
      R"("trace_context":"t","ordering_key":"o","content_class":"bulk","class":"hot","generation":7,)"
      R"("not_before":"2026-04-26T01:43:02Z"})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->event_type, "a.b");
  EXPECT_EQ(request->event_version, 2);
  EXPECT_EQ(request->id->to_string(), "01890a5d-ac96-774b-bcce-b302099a8057");
  EXPECT_EQ(request->occurred_at, *parse_iso8601("2026-04-25T01:43:02Z"));
  EXPECT_EQ(request->source, "demo");
  EXPECT_EQ(request->target, "worlds");
  EXPECT_EQ(request->workspace_id->to_string(), "f47ac10b-58cc-4372-a567-0e02b2c3d479");
  EXPECT_EQ(request->payload, R"({"n" : 1.10})");
  EXPECT_EQ(request->idempotency_key, "k");
  EXPECT_EQ(request->trace_context, "t");
  EXPECT_EQ(request->ordering_key, "o");
  EXPECT_EQ(request->content_class, "bulk");
  EXPECT_EQ(request->processing_class, "hot");
  EXPECT_EQ(request->generation, 7);
  EXPECT_EQ(request->not_before, *parse_iso8601("2026-04-26T01:43:02Z"));
}

TEST(PublishRequestJson, NullIsAsGoodAsLeftOut) {
  const auto request =
      publish_request(R"({"type":"a.b","source":"demo","target":null,"payload":null,"event_id":null})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->event_type, "a.b");
  EXPECT_EQ(request->target, std::nullopt);
  EXPECT_EQ(request->payload, "{}");
  EXPECT_EQ(request->id, std::nullopt);
}

TEST(PublishRequestJson, ADelayIsATextOrANumberOfSeconds) {
  EXPECT_EQ(publish_request(R"({"delay":"5m"})")->delay, Duration{5min});
  EXPECT_EQ(publish_request(R"({"delay":30})")->delay, Duration{30s});
  EXPECT_EQ(refused_field(R"({"delay":"soon"})"), "delay");
  EXPECT_EQ(refused_field(R"({"delay":-1})"), "delay");
}

TEST(PublishRequestJson, TheErrorNamesTheMember) {
  EXPECT_EQ(refused_field("[]"), "event");
  EXPECT_EQ(refused_field(R"({"type":7})"), "type");
  EXPECT_EQ(refused_field(R"({"event_id":"7"})"), "event_id");
  EXPECT_EQ(refused_field(R"({"event_version":"1"})"), "event_version");
  EXPECT_EQ(refused_field(R"({"event_version":1.5})"), "event_version");
  EXPECT_EQ(refused_field(R"({"generation":99999999999999999999})"), "generation");
  EXPECT_EQ(refused_field(R"({"occurred_at":"now"})"), "occurred_at");
}

TEST(PublishRequestJson, AMisspeltMemberIsNotLostWithoutAWord) {
  const auto request = publish_request(R"({"type":"a.b","ordring_key":"k"})");
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().field, "ordring_key");
  EXPECT_NE(request.error().message.find("ordering_key"), std::string::npos);
}

TEST(PublishRequestJson, TheTypeIsGivenOnce) {
  EXPECT_EQ(refused_field(R"({"type":"a.b","event_type":"a.b"})"), "type");
}

CloudEvent a_cloudevent() {
  CloudEvent event;
  event.id = "01890a5d-ac96-774b-bcce-b302099a8057";
  event.source = "/billing/eu";
  event.type = "invoice.sent";
  return event;
}

std::string refused_attribute(const CloudEvent& event) {
  const auto request = publish_request(event);
  return request ? std::string{} : request.error().field;
}

TEST(CloudEventRequest, AttributesHaveTheirFields) {
  CloudEvent event = a_cloudevent();
  event.data = R"({"n":1.10})";
  event.attributes = {
      {"time", "2026-04-25T01:43:02Z"}, {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
      {"partitionkey", "customer-7"},   {"sluiceversion", "3"},
      {"sluicetarget", "worlds"},       {"sluiceworkspace", "f47ac10b-58cc-4372-a567-0e02b2c3d479"},
      {"sluicekey", "invoice 7"},       {"subject", "invoice/7"}};
  const auto request = publish_request(event);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->id->to_string(), event.id);
  EXPECT_EQ(request->event_type, "invoice.sent");
  EXPECT_EQ(request->source, "billing_eu");
  EXPECT_EQ(request->payload, R"({"n":1.10})");
  EXPECT_EQ(request->occurred_at, *parse_iso8601("2026-04-25T01:43:02Z"));
  EXPECT_EQ(request->trace_context, event.attribute("traceparent"));
  EXPECT_EQ(request->ordering_key, "customer-7");
  EXPECT_EQ(request->event_version, 3);
  EXPECT_EQ(request->target, "worlds");
  EXPECT_EQ(request->workspace_id->to_string(), "f47ac10b-58cc-4372-a567-0e02b2c3d479");
  EXPECT_EQ(request->idempotency_key, "invoice 7");
}

TEST(CloudEventRequest, AnIdThatIsNoUuidAlwaysBecomesTheSameOne) {
  CloudEvent event = a_cloudevent();
  event.id = "A234-1234-1234";
  const auto first = publish_request(event);
  const auto again = publish_request(event);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->id, again->id);
  EXPECT_EQ(first->id->version(), 8);
  EXPECT_EQ(first->idempotency_key, "/billing/eu A234-1234-1234");
  event.source = "/billing/us";
  EXPECT_NE(publish_request(event)->id, first->id);
}

TEST(CloudEventRequest, AnEventThatLeftSluiceComesBackAsItWas) {
  EnvelopeDraft draft;
  draft.event_id = *Uuid::parse("01890a5d-ac96-774b-bcce-b302099a8057");
  draft.event_type = "platform.scan.completed";
  draft.event_version = 2;
  draft.occurred_at = *parse_iso8601("2026-04-25T01:43:02.123456Z");
  draft.source = "platform";
  draft.target = "worlds";
  draft.workspace_id = *Uuid::parse("f47ac10b-58cc-4372-a567-0e02b2c3d479");
  draft.payload = R"({"n":1})";
  draft.idempotency_key = "scan 7";
  const EventEnvelope sent = *EventEnvelope::make(draft);
  const auto decoded = cloudevents::decode_structured(cloudevents::encode_structured(sent));
  ASSERT_TRUE(decoded) << decoded.error().message;
  const auto request = publish_request(*decoded);
  ASSERT_TRUE(request) << request.error().message;
  EventPublishing publishing{host::Entropy::system(), {}};
  const auto received = publishing.prepare(*request, 1);
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_EQ(received->envelope.to_json(), sent.to_json());
}

TEST(CloudEventRequest, Base64DataIsThePayload) {
  CloudEvent event = a_cloudevent();
  event.data_base64 = "eyJuIjoxfQ==";
  EXPECT_EQ(publish_request(event)->payload, R"({"n":1})");
  event.data_base64 = "???";
  EXPECT_EQ(refused_attribute(event), "data_base64");
}

TEST(CloudEventRequest, NoDataIsAnEmptyPayload) { EXPECT_EQ(publish_request(a_cloudevent())->payload, "{}"); }

TEST(CloudEventRequest, TheErrorNamesTheAttribute) {
  const auto with = [](std::string name, std::string value) {
    CloudEvent event = a_cloudevent();
    event.attributes.emplace(std::move(name), std::move(value));
    return refused_attribute(event);
  };
  EXPECT_EQ(with("time", "yesterday"), "time");
  EXPECT_EQ(with("sluiceversion", "two"), "sluiceversion");
  EXPECT_EQ(with("sluiceworkspace", "here"), "sluiceworkspace");
  CloudEvent event = a_cloudevent();
  event.source = "//";
  EXPECT_EQ(refused_attribute(event), "source");
  event.source = "two words";
  EXPECT_EQ(refused_attribute(event), "source");
}

TEST(CloudEventRequest, FieldsAreToldAsAttributes) {
  EXPECT_EQ(in_terms_of_attributes(invalid("payload", "must be an object")).field, "data");
  EXPECT_EQ(in_terms_of_attributes(invalid("event_type", "is bad")).message, "type: is bad");
  EXPECT_EQ(in_terms_of_attributes(invalid("source", "is bad")).field, "source");
}

TEST(DerivedId, DependsOnEveryPart) {
  const Uuid id = derived_id("kind", {"sender", "id"});
  EXPECT_NE(id, derived_id("kinds", {"sender", "id"}));
  EXPECT_NE(id, derived_id("kind", {"sende", "rid"}));
  EXPECT_EQ(id, derived_id("kind", {"sender", "id"}));
  EXPECT_EQ(id.bytes[8] & 0xC0, 0x80);
}

TEST(DerivedKey, IsEmptyWhereItWouldNotDo) {
  EXPECT_EQ(derived_key({"github", "abc"}), "github abc");
  EXPECT_EQ(derived_key({"github", std::string(300, 'x')}), "");
  EXPECT_EQ(derived_key({"github", "a\nb"}), "");
  EXPECT_EQ(derived_key({"github", "\xFF"}), "");
  EXPECT_EQ(derived_key({"two words", "abc"}), "");
}

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
  test::FaultyAdministering faulty{store};
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
  test::FaultyAdministering faulty{store};
  faulty.fail_verb("publish", {ErrorCode::read_only, Retry::never, "the file is read-only", "", ""});
  EventPublishing publishing{fixed_entropy(), {}};
  const auto published = publish_event(faulty, *publishing.prepare(a_request(), 1));
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().message, "the file is read-only");
}

}  // namespace
}  // namespace sluice::ops
