#include "sink/http/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crypto/digest.hpp"

namespace sluice::sink {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kId = "01890a5d-ac96-774b-bcce-b302099a8057";
const Timestamp kSentAt = *parse_iso8601("2026-04-25T01:43:05.9Z");

EventEnvelope sent_event(std::string source = "billing") {
  EnvelopeDraft draft;
  draft.event_id = *Uuid::parse(kId);
  draft.event_type = "invoice.paid";
  draft.occurred_at = *parse_iso8601("2026-04-25T01:43:02Z");
  draft.source = std::move(source);
  draft.payload = R"({"total":"12.50 €"})";
  draft.trace_context = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  return EventEnvelope::trusted(draft);
}

std::string signature(const std::string& key, const std::string& content) {
  return "v1," + crypto::to_base64(crypto::hmac_sha256(key, content));
}

TEST(DeliveryRequest, IsTheEnvelopeWithAnIdAndATime) {
  const DeliveryRequest request{sent_event(), {}, kSentAt};
  EXPECT_EQ(request.body(), sent_event().to_json());
  EXPECT_THAT(request.headers(), ElementsAre("webhook-id: " + std::string{kId}, "webhook-timestamp: 1777081385",
                                             "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
}

TEST(DeliveryRequest, EveryKeySignsTheNewestFirst) {
  const DeliveryRequest request{sent_event(), {BodyFormat::envelope, {"new key", "old key"}}, kSentAt};
  const std::string content = std::string{kId} + ".1777081385." + sent_event().to_json();
  EXPECT_EQ(request.headers().at(2),
            "webhook-signature: " + signature("new key", content) + ' ' + signature("old key", content));
}

// The example that the libraries of Standard Webhooks test themselves with.
TEST(DeliveryRequest, SignsAsTheStandardSays) {
  const std::string key = *crypto::from_base64("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  EXPECT_EQ(signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{\"test\": 2432232314}"),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(DeliveryRequest, BinaryCloudEventsCarryAttributesInHeaders) {
  const DeliveryRequest request{sent_event("größe"), {BodyFormat::cloudevents_binary, {"k"}}, kSentAt};
  EXPECT_EQ(request.body(), R"({"total":"12.50 €"})");
  EXPECT_THAT(request.headers(), Contains("ce-specversion: 1.0"));
  EXPECT_THAT(request.headers(), Contains("ce-id: " + std::string{kId}));
  EXPECT_THAT(request.headers(), Contains("ce-type: invoice.paid"));
  EXPECT_THAT(request.headers(), Contains("ce-source: gr%C3%B6%C3%9Fe"));
  EXPECT_THAT(request.headers(), Contains(StartsWith("webhook-signature: v1,")));
  EXPECT_THAT(request.headers(), Each(Not(HasSubstr("datacontenttype"))));
}

TEST(DeliveryRequest, StructuredCloudEventsAreOneObject) {
  const DeliveryRequest request{sent_event(), {BodyFormat::cloudevents_structured, {}}, kSentAt};
  EXPECT_THAT(std::string{request.body()}, HasSubstr(R"("specversion":"1.0")"));
  EXPECT_THAT(std::string{request.body()}, HasSubstr(R"("data":{"total":"12.50 €"})"));
}

TEST(DeliveryRequest, NoValueBeginsAnotherHeader) {
  EnvelopeDraft draft;
  draft.event_id = *Uuid::parse(kId);
  draft.event_type = "invoice.paid\r\nX-Evil: 1";
  draft.source = "billing\nX-Evil: 2";
  draft.target = "shop\r\nX-Evil: 3";
  draft.idempotency_key = "k\r\nX-Evil: 4";
  draft.trace_context = "00-a\r\nX-Evil: 5";
  const EventEnvelope event = EventEnvelope::trusted(draft);
  for (const BodyFormat format :
       {BodyFormat::envelope, BodyFormat::cloudevents_binary, BodyFormat::cloudevents_structured}) {
    const DeliveryRequest request{event, {format, {"k"}}, kSentAt};
    EXPECT_THAT(request.headers(), Each(Not(testing::ContainsRegex("[\r\n]"))));
    EXPECT_THAT(request.headers(), Each(Not(StartsWith("traceparent:"))));
  }
  EXPECT_THAT(fixed_headers(BodyFormat::envelope, "1.2", {{"X-Team", "a\r\nX-Evil: 6"}}),
              Each(Not(HasSubstr("X-Evil"))));
}

TEST(DeliveryRequest, KeepsItsBodyWhenItMoves) {
  DeliveryRequest request{sent_event(), {}, kSentAt};
  const DeliveryRequest moved{std::move(request)};
  EXPECT_EQ(moved.body(), sent_event().to_json());
}

TEST(FixedHeaders, NameTheContentAndTheSender) {
  EXPECT_THAT(
      fixed_headers(BodyFormat::envelope, "1.2", {{"X-Team", "a"}}),
      ElementsAre("content-type: application/json", "user-agent: sluice/1.2", "Expect:", "Accept:", "X-Team: a"));
  EXPECT_THAT(fixed_headers(BodyFormat::cloudevents_structured, "1.2", {}),
              Contains("content-type: application/cloudevents+json"));
  EXPECT_THAT(fixed_headers(BodyFormat::cloudevents_binary, "1.2", {}), Contains("content-type: application/json"));
}

}  // namespace
}  // namespace sluice::sink
