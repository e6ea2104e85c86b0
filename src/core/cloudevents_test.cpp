#include "core/cloudevents.hpp"

#include <gtest/gtest.h>

namespace sluice::cloudevents {
namespace {

constexpr std::string_view kTraceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

std::string refused_field(std::string_view json) {
  const auto event = decode_structured(json);
  return event ? std::string{} : event.error().field;
}

EventEnvelope complete_event() {
  EnvelopeDraft draft;
  draft.event_id = *Uuid::parse("01890a5d-ac96-774b-bcce-b302099a8057");
  draft.event_type = "platform.scan.completed";
  draft.event_version = 2;
  draft.occurred_at = *parse_iso8601("2026-04-25T01:43:02Z");
  draft.source = "platform";
  draft.target = "worlds";
  draft.workspace_id = *Uuid::parse("f47ac10b-58cc-4372-a567-0e02b2c3d479");
  draft.payload = R"({"n":12345678901234567890.10})";
  draft.idempotency_key = "scan \"7\" 100% é";
  draft.trace_context = kTraceparent;
  return *EventEnvelope::make(std::move(draft));
}

TEST(CloudEventsStructured, EveryAttributeIsKept) {
  const auto event = decode_structured(
      R"({"specversion":"1.0","id":"a1","source":"/billing","type":"invoice.sent","time":"2026-04-25T01:43:02Z",)"
      R"("subject":"invoice/7","attempt":3,"urgent":true,"gone":null,"data":{"n":1.10}})");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->id, "a1");
  EXPECT_EQ(event->source, "/billing");
  EXPECT_EQ(event->type, "invoice.sent");
  EXPECT_EQ(event->attribute("time"), "2026-04-25T01:43:02Z");
  EXPECT_EQ(event->attribute("subject"), "invoice/7");
  EXPECT_EQ(event->attribute("attempt"), "3");
  EXPECT_EQ(event->attribute("urgent"), "true");
  EXPECT_EQ(event->attribute("gone"), std::nullopt);
  EXPECT_EQ(event->attribute("specversion"), std::nullopt);
  EXPECT_EQ(event->data, R"({"n":1.10})");
}

TEST(CloudEventsStructured, TheErrorNamesTheAttribute) {
  EXPECT_EQ(refused_field("[]"), "event");
  EXPECT_EQ(refused_field(R"({"id":"1","source":"a","type":"t"})"), "specversion");
  EXPECT_EQ(refused_field(R"({"specversion":"0.3","id":"1","source":"a","type":"t"})"), "specversion");
  EXPECT_EQ(refused_field(R"({"specversion":"1.0","source":"a","type":"t"})"), "id");
  EXPECT_EQ(refused_field(R"({"specversion":"1.0","id":"","source":"a","type":"t"})"), "id");
  EXPECT_EQ(refused_field(R"({"specversion":"1.0","id":"1","type":"t"})"), "source");
  EXPECT_EQ(refused_field(R"({"specversion":"1.0","id":"1","source":"a"})"), "type");
  EXPECT_EQ(refused_field(R"({"specversion":"1.0","id":"1","source":"a","type":"t","x":{}})"), "x");
  EXPECT_EQ(refused_field(R"({"specversion":"1.0","id":"1","source":"a","type":"t","My-Thing":"x"})"), "My-Thing");
  EXPECT_EQ(refused_field(R"({"specversion":"1.0","id":"1","source":"a","type":"t","data":{},"data_base64":"e30="})"),
            "data_base64");
}

TEST(CloudEventsBatch, KeepsTheOrder) {
  const auto events = decode_batch(
      R"([{"specversion":"1.0","id":"1","source":"a","type":"t"},{"specversion":"1.0","id":"2","source":"a","type":"t"}])");
  ASSERT_TRUE(events) << events.error().message;
  ASSERT_EQ(events->size(), 2U);
  EXPECT_EQ((*events)[1].id, "2");
}

TEST(CloudEventsBatch, TheErrorSaysWhichOne) {
  const auto events =
      decode_batch(R"([{"specversion":"1.0","id":"1","source":"a","type":"t"},{"specversion":"1.0","id":"2"}])");
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().field, "events[1].source");
}

TEST(CloudEventsBinary, HeadersAreAttributesAndTheBodyIsTheData) {
  const auto event = decode_binary({{"ce-specversion", "1.0"},
                                    {"ce-id", "100%25 \xC3\xA9 %E2%82%AC"},
                                    {"ce-source", "\"/a b\""},
                                    {"ce-type", "t"},
                                    {"ce-odd_name", "x"},
                                    {"cf-ray", "y"},
                                    {"content-type", "application/json"}},
                                   R"({"n":1})");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->id, "100% \xC3\xA9 \xE2\x82\xAC");
  EXPECT_EQ(event->source, "/a b");
  EXPECT_EQ(event->data, R"({"n":1})");
  EXPECT_TRUE(event->attributes.empty());
}

TEST(CloudEventsBinary, APercentSignThatBeginsNoEscapeStandsForItself) {
  const auto event =
      decode_binary({{"ce-specversion", "1.0"}, {"ce-id", "5% %zz %4"}, {"ce-source", "a"}, {"ce-type", "t"}}, "");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->id, "5% %zz %4");
  EXPECT_EQ(event->data, std::nullopt);
}

TEST(CloudEventsBinary, BytesThatAreNoTextAreRefused) {
  const auto event =
      decode_binary({{"ce-specversion", "1.0"}, {"ce-id", "%ff"}, {"ce-source", "a"}, {"ce-type", "t"}}, "");
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().field, "ce-id");
}

TEST(CloudEventsContext, IsMadeOfTheLettersAndDigitsOfTheSource) {
  EXPECT_EQ(context_of("billing"), "billing");
  EXPECT_EQ(context_of("/billing"), "billing");
  EXPECT_EQ(context_of("/Billing/invoices/"), "billing_invoices");
  EXPECT_EQ(context_of("https://billing.example.com/eu"), "billing_example_com_eu");
  EXPECT_EQ(context_of("urn:example:billing"), "example_billing");
  EXPECT_EQ(context_of("my_service"), "my_service");
  EXPECT_EQ(context_of("7up"), "source_7up");
  EXPECT_EQ(context_of("//"), "");
  EXPECT_EQ(context_of(std::string(62, 'a') + "/b").size(), 62U);
  EXPECT_EQ(context_of(std::string(100, 'a')).size(), 63U);
}

TEST(CloudEventsEncode, TheStructuredFormIsReadBack) {
  const EventEnvelope sent = complete_event();
  const auto event = decode_structured(encode_structured(sent));
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->id, sent.event_id().to_string());
  EXPECT_EQ(event->source, "platform");
  EXPECT_EQ(event->type, "platform.scan.completed");
  EXPECT_EQ(event->attribute("time"), "2026-04-25T01:43:02.000000Z");
  EXPECT_EQ(event->attribute("traceparent"), kTraceparent);
  EXPECT_EQ(event->attribute("sluiceversion"), "2");
  EXPECT_EQ(event->attribute("sluicetarget"), "worlds");
  EXPECT_EQ(event->attribute("sluiceworkspace"), "f47ac10b-58cc-4372-a567-0e02b2c3d479");
  EXPECT_EQ(event->attribute("sluicekey"), sent.idempotency_key());
  EXPECT_EQ(event->attribute("datacontenttype"), "application/json");
  EXPECT_EQ(event->data, sent.payload());
}

TEST(CloudEventsEncode, TheBinaryFormIsReadBack) {
  const EventEnvelope sent = complete_event();
  std::map<std::string, std::string, std::less<>> headers;
  for (auto& [name, value] : encode_binary_headers(sent)) {
    for (const char c : value) EXPECT_TRUE(c > ' ' && c < 0x7F && c != '"') << name << ": " << value;
    headers.emplace(name, value);
  }
  EXPECT_FALSE(headers.contains("ce-datacontenttype"));
  const auto event = decode_binary(headers, sent.payload());
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->attribute("sluicekey"), sent.idempotency_key());
  EXPECT_EQ(event->data, sent.payload());
}

TEST(CloudEventsEncode, ABatchIsReadBack) {
  const std::vector<EventEnvelope> sent{complete_event(), complete_event()};
  const auto events = decode_batch(encode_batch(sent));
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_EQ(events->size(), 2U);
  EXPECT_EQ(encode_batch({}), "[]");
}

}  // namespace
}  // namespace sluice::cloudevents
