#include <gtest/gtest.h>
#include <functional>

#include <sluice/envelope.hpp>

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kTraceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
constexpr std::string_view kOddPayload = R"({"n":12345678901234567890123456789.000001, "a" : 1})";

Uuid id(std::string_view text) { return *Uuid::parse(text); }

EnvelopeDraft minimal() {
  EnvelopeDraft draft;
  draft.event_id = id("01890a5d-ac96-774b-bcce-b302099a8057");
  draft.event_type = "platform.scan.completed";
  draft.occurred_at = *parse_iso8601("2026-04-25T01:43:02Z");
  draft.source = "platform";
  return draft;
}

EnvelopeDraft complete() {
  EnvelopeDraft draft = minimal();
  draft.event_version = 2;
  draft.target = "worlds";
  draft.workspace_id = id("f47ac10b-58cc-4372-a567-0e02b2c3d479");
  draft.payload = kOddPayload;
  draft.idempotency_key = "scan \"7\" é";
  draft.trace_context = kTraceparent;
  return draft;
}

Error refusal(const std::function<void(EnvelopeDraft&)>& change, const EnvelopeLimits& limits = {}) {
  EnvelopeDraft draft = complete();
  change(draft);
  auto made = EventEnvelope::make(std::move(draft), limits);
  return made ? Error{} : std::move(made).error();
}

std::string bad_field(const std::function<void(EnvelopeDraft&)>& change) { return refusal(change).field; }

std::string json_refusal(std::string_view json) {
  const auto read = EventEnvelope::from_json(json);
  return read ? std::string{} : read.error().field;
}

TEST(Envelope, KeepsWhatItWasGiven) {
  const auto envelope = EventEnvelope::make(complete());
  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->event_type(), "platform.scan.completed");
  EXPECT_EQ(envelope->event_version(), 2);
  EXPECT_EQ(envelope->target(), "worlds");
  EXPECT_EQ(envelope->payload(), kOddPayload);
  EXPECT_EQ(envelope->idempotency_key(), "scan \"7\" é");
}

TEST(Envelope, TheIdempotencyKeyDefaultsToTheId) {
  EXPECT_EQ(EventEnvelope::make(minimal())->idempotency_key(), "01890a5d-ac96-774b-bcce-b302099a8057");
  EXPECT_EQ(EventEnvelope::trusted(minimal()).idempotency_key(), "01890a5d-ac96-774b-bcce-b302099a8057");
}

TEST(Envelope, NamesTheBadField) {
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.event_id = Uuid{}; }), "event_id");
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.event_type = ""; }), "event_type");
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.event_type = "a b"; }), "event_type");
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.event_version = 0; }), "event_version");
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.occurred_at = Timestamp{}; }), "occurred_at");
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.occurred_at = Timestamp::max(); }), "occurred_at");
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.occurred_at = Timestamp::min(); }), "occurred_at");
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.source = "Platform"; }), "source");
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.target = ""; }), "target");
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.trace_context = "00-x"; }), "trace_context");
}

TEST(Envelope, ThePayloadMustBeAnObjectWithinItsLimits) {
  for (const char* bad :
       {"", "[]", "1", "null", "\"a\"", "{", "{\"a\":1,}", "{\"a\":\"\\u0000\"}", "{\"a\":\"\xFF\"}"}) {
    EXPECT_EQ(bad_field([bad](EnvelopeDraft& d) { d.payload = bad; }), "payload") << bad;
  }
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.payload = std::string{"{}\0", 3}; }), "payload");
  EXPECT_EQ(refusal([](EnvelopeDraft& d) { d.payload = "[]"; }).message,
            "payload must be a JSON object, like {\"n\":1}");
  EXPECT_EQ(refusal([](EnvelopeDraft& d) { d.payload = "{\"a\":1}"; }, {.payload_bytes = 6}).message,
            "payload must be at most 6 bytes, not 7");
  EXPECT_EQ(refusal([](EnvelopeDraft& d) { d.payload = "{\"a\":[]}"; }, {.payload_depth = 1}).field, "payload");
  EXPECT_EQ(refusal([](EnvelopeDraft& d) { d.payload = "{\"a\":[]}"; }, {.payload_depth = 2}).field, "");
}

TEST(Envelope, ThePayloadLimitIs256KiB) {
  const auto payload_of = [](std::size_t bytes) { return "{\"a\":\"" + std::string(bytes - 8, 'x') + "\"}"; };
  EXPECT_EQ(bad_field([&](EnvelopeDraft& d) { d.payload = payload_of(256 * 1024); }), "");
  EXPECT_EQ(bad_field([&](EnvelopeDraft& d) { d.payload = payload_of(256 * 1024 + 1); }), "payload");
}

TEST(Envelope, ThePayloadLimitCountsTheDigitsThatAreStored) {
  std::string bomb = R"({"a":[1e99999)";
  for (int i = 0; i < 2; ++i) bomb += ",1e99999";
  EXPECT_EQ(refusal([&](EnvelopeDraft& d) { d.payload = bomb + "]}"; }).message,
            "payload must be at most 262144 bytes with its numbers written out, not 300010");
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.payload = R"({"a":{"b":1,"b":2}})"; }), "payload");
}

TEST(Envelope, TheIdempotencyKeyIsShortPrintableText) {
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.idempotency_key = ""; }), "idempotency_key");
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.idempotency_key = std::string(256, 'k'); }), "idempotency_key");
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.idempotency_key = std::string(255, 'k'); }), "");
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.idempotency_key = "a\nb"; }), "idempotency_key");
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.idempotency_key = std::string{"a\0b", 3}; }), "idempotency_key");
  EXPECT_EQ(bad_field([](EnvelopeDraft& d) { d.idempotency_key = "a\xFF"; }), "idempotency_key");
}

TEST(Envelope, TheFirstBadFieldInDeclaredOrderWins) {
  EnvelopeDraft draft = complete();
  const std::vector<std::pair<std::string, std::function<void(EnvelopeDraft&)>>> breaks{
      {"trace_context", [](EnvelopeDraft& d) { d.trace_context = "x"; }},
      {"idempotency_key", [](EnvelopeDraft& d) { d.idempotency_key = ""; }},
      {"payload", [](EnvelopeDraft& d) { d.payload = "x"; }},
      {"target", [](EnvelopeDraft& d) { d.target = "X"; }},
      {"source", [](EnvelopeDraft& d) { d.source = "X"; }},
      {"occurred_at", [](EnvelopeDraft& d) { d.occurred_at = Timestamp{}; }},
      {"event_version", [](EnvelopeDraft& d) { d.event_version = -1; }},
      {"event_type", [](EnvelopeDraft& d) { d.event_type = "."; }},
      {"event_id", [](EnvelopeDraft& d) { d.event_id = Uuid{}; }},
  };
  for (const auto& [field, damage] : breaks) {
    damage(draft);
    const auto made = EventEnvelope::make(draft);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().field, field);
    EXPECT_EQ(made.error().code, ErrorCode::invalid);
    EXPECT_NE(made.error().message.find(field), std::string::npos) << made.error().message;
  }
}

TEST(EnvelopeJson, TheFormIsPinned) {
  EXPECT_EQ(EventEnvelope::make(complete())->to_json(),
            R"({"event_id":"01890a5d-ac96-774b-bcce-b302099a8057","event_type":"platform.scan.completed",)"
            R"("event_version":2,"occurred_at":"2026-04-25T01:43:02.000000Z","source":"platform","target":"worlds",)"
            R"("workspace_id":"f47ac10b-58cc-4372-a567-0e02b2c3d479",)"
            R"("payload":{"n":12345678901234567890123456789.000001, "a" : 1},)"
            R"("idempotency_key":"scan \"7\" é",)"
            R"("trace_context":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})");
  EXPECT_EQ(EventEnvelope::make(minimal())->to_json(),
            R"({"event_id":"01890a5d-ac96-774b-bcce-b302099a8057","event_type":"platform.scan.completed",)"
            R"("event_version":1,"occurred_at":"2026-04-25T01:43:02.000000Z","source":"platform","target":null,)"
            R"("workspace_id":null,"payload":{},"idempotency_key":"01890a5d-ac96-774b-bcce-b302099a8057",)"
            R"("trace_context":null})");
}

TEST(EnvelopeJson, IsOneLineWhateverThePayload) {
  EnvelopeDraft draft = minimal();
  draft.payload = "{\r\n  \"a\": 1\n}";
  const std::string json = EventEnvelope::make(draft)->to_json();
  EXPECT_EQ(json.find_first_of("\r\n"), std::string::npos);
  EXPECT_NE(json.find("{    \"a\": 1 }"), std::string::npos);
}

TEST(EnvelopeJson, ReadsBack) {
  for (const EnvelopeDraft& draft : {minimal(), complete()}) {
    const auto envelope = EventEnvelope::make(draft);
    const auto read = EventEnvelope::from_json(envelope->to_json());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->to_json(), envelope->to_json());
    EXPECT_EQ(read->payload(), draft.payload);
  }
}

TEST(EnvelopeJson, OptionalMembersMayBeLeftOutAndUnknownOnesAreIgnored) {
  const auto read = EventEnvelope::from_json(
      R"({"later":{"x":[1]},"event_id":"01890a5d-ac96-774b-bcce-b302099a8057","event_type":"a.b","source":"a",)"
      R"("occurred_at":"2026-04-25T03:43:02+02:00"})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->event_version(), 1);
  EXPECT_EQ(read->payload(), "{}");
  EXPECT_EQ(read->target(), std::nullopt);
  EXPECT_EQ(to_iso8601(read->occurred_at()), "2026-04-25T01:43:02.000000Z");
}

TEST(EnvelopeJson, WrongOrMissingMembersAreNamed) {
  const std::string good = EventEnvelope::make(complete())->to_json();
  const auto with = [&good](std::string_view from, std::string_view to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_EQ(json_refusal(good), "");
  EXPECT_EQ(json_refusal(with(R"("event_id")", R"("x")")), "event_id");
  EXPECT_EQ(json_refusal(with(R"("01890a5d-ac96-774b-bcce-b302099a8057")", "7")), "event_id");
  EXPECT_EQ(json_refusal(with(R"("01890a5d-ac96-774b-bcce-b302099a8057")", R"("7")")), "event_id");
  EXPECT_EQ(json_refusal(with(R"("platform.scan.completed")", "[]")), "event_type");
  EXPECT_EQ(json_refusal(with(R"("event_version":2)", R"("event_version":"2")")), "event_version");
  EXPECT_EQ(json_refusal(with(R"("event_version":2)", R"("event_version":2.0)")), "event_version");
  EXPECT_EQ(json_refusal(with(R"("event_version":2)", R"("event_version":99999999999)")), "event_version");
  EXPECT_EQ(json_refusal(with(R"("occurred_at")", R"("x")")), "occurred_at");
  EXPECT_EQ(json_refusal(with(R"("2026-04-25T01:43:02.000000Z")", R"("yesterday")")), "occurred_at");
  EXPECT_EQ(json_refusal(with(R"("source":"platform")", R"("source":true)")), "source");
  EXPECT_EQ(json_refusal(with(R"("worlds")", "1")), "target");
  EXPECT_EQ(json_refusal(with(R"("f47ac10b-58cc-4372-a567-0e02b2c3d479")", R"("w")")), "workspace_id");
  EXPECT_EQ(json_refusal(with(kOddPayload, "[1]")), "payload");
  EXPECT_EQ(json_refusal(with(kOddPayload, "null")), "payload");
  EXPECT_EQ(json_refusal(with(R"("scan \"7\" é")", "{}")), "idempotency_key");
  EXPECT_EQ(json_refusal(with("00-0af", "01-0af")), "trace_context");
}

TEST(EnvelopeJson, ADeepPayloadIsBlamedOnThePayload) {
  EnvelopeDraft draft = complete();
  draft.payload = "{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}";
  EXPECT_EQ(json_refusal(EventEnvelope::trusted(draft).to_json()), "payload");
}

TEST(EnvelopeJson, OtherTextsAreNotEnvelopes) {
  for (const char* bad : {"", "[]", "{", "null", R"({"event_id":1,"event_id":2})"})
    EXPECT_EQ(json_refusal(bad), "envelope") << bad;
}

}  // namespace
}  // namespace sluice
