#include "ops/publish_request_json.hpp"

#include <gtest/gtest.h>

namespace sluice::ops {
namespace {

using namespace std::chrono_literals;

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

}  // namespace
}  // namespace sluice::ops
