#include "ops/webhook.hpp"

#include <gtest/gtest.h>

#include "core/generation.hpp"
#include "crypto/digest.hpp"

namespace sluice::ops {
namespace {

using namespace std::chrono_literals;
using config::HookConfig;
using config::Secret;
using Headers = std::map<std::string, std::string, std::less<>>;

constexpr Timestamp kVerifiedAt{1'780'000'000s};
const std::string kKey = "thirty-two bytes of a secret key";
const std::string kOldKey = "the key before the one above it";
const std::string kBody = R"({"type":"invoice.paid","data":{"n":1}})";

HookConfig a_hook(HookConfig::Kind kind) {
  HookConfig hook;
  hook.source = "pay";
  hook.kind = kind;
  hook.secrets = {Secret{kKey}, Secret{kOldKey}};
  hook.signature_header = "x-signature";
  return hook;
}

std::string standard_signature(const std::string& key, const std::string& id, const std::string& timestamp,
                               const std::string& body = kBody) {
  return "v1," + crypto::to_base64(crypto::hmac_sha256(key, id + "." + timestamp + "." + body));
}

Headers standard_headers(const std::string& key = kKey, const std::string& timestamp = "1780000000") {
  return {{"webhook-id", "msg_1"},
          {"webhook-timestamp", timestamp},
          {"webhook-signature", standard_signature(key, "msg_1", timestamp)}};
}

Result<WebhookLabel> verify(const HookConfig& hook, const Headers& headers, const std::string& body = kBody,
                            Timestamp now = kVerifiedAt) {
  return verify_webhook(hook, {headers, body, now});
}

bool forbidden(const Result<WebhookLabel>& label) { return !label && label.error().code == ErrorCode::forbidden; }

TEST(StandardWebhook, AGenuineOneTellsItsIdAndItsType) {
  const auto label = verify(a_hook(HookConfig::Kind::standard), standard_headers());
  ASSERT_TRUE(label) << label.error().message;
  EXPECT_EQ(label->delivery_id, "msg_1");
  EXPECT_EQ(label->event, "invoice.paid");
}

TEST(StandardWebhook, TheSignatureOfThePublishedExampleFits) {
  HookConfig hook = a_hook(HookConfig::Kind::standard);
  hook.secrets = {Secret{*crypto::from_base64("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")}};
  const Headers headers{{"webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"},
                        {"webhook-timestamp", "1614265330"},
                        {"webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}};
  EXPECT_TRUE(verify(hook, headers, R"({"test": 2432232314})", Timestamp{1'614'265'330s}));
}

TEST(StandardWebhook, AnyKnownSecretAndAnyOfSeveralSignaturesWillDo) {
  const HookConfig hook = a_hook(HookConfig::Kind::standard);
  EXPECT_TRUE(verify(hook, standard_headers(kOldKey)));
  Headers headers = standard_headers();
  headers["webhook-signature"] = "v1a,abcd v1,AAAA  " + headers["webhook-signature"];
  EXPECT_TRUE(verify(hook, headers));
}

TEST(StandardWebhook, AnythingElseIsForbidden) {
  const HookConfig hook = a_hook(HookConfig::Kind::standard);
  EXPECT_TRUE(forbidden(verify(hook, standard_headers("another key"))));
  EXPECT_TRUE(forbidden(verify(hook, standard_headers(), kBody + " ")));
  EXPECT_TRUE(forbidden(verify(hook, {})));
  for (const char* missing : {"webhook-id", "webhook-timestamp", "webhook-signature"}) {
    Headers headers = standard_headers();
    headers.erase(missing);
    const auto label = verify(hook, headers);
    EXPECT_TRUE(forbidden(label));
    EXPECT_EQ(label.error().field, missing);
  }
  for (const char* signature : {"", "v1,", "v1,AAAA", "v2,AAAA", "nonsense"}) {
    Headers headers = standard_headers();
    headers["webhook-signature"] = signature;
    EXPECT_TRUE(forbidden(verify(hook, headers))) << signature;
  }
  Headers other_id = standard_headers();
  other_id["webhook-id"] = "msg_2";
  EXPECT_TRUE(forbidden(verify(hook, other_id)));
}

TEST(StandardWebhook, AnOldOneOrOneFromTheFutureIsForbidden) {
  const HookConfig hook = a_hook(HookConfig::Kind::standard);
  EXPECT_TRUE(verify(hook, standard_headers(), kBody, kVerifiedAt + 5min));
  EXPECT_TRUE(verify(hook, standard_headers(), kBody, kVerifiedAt - 5min));
  EXPECT_TRUE(forbidden(verify(hook, standard_headers(), kBody, kVerifiedAt + 5min + 1s)));
  EXPECT_TRUE(forbidden(verify(hook, standard_headers(), kBody, kVerifiedAt - 5min - 1s)));
  for (const char* timestamp : {"soon", "-1", "1.5", "99999999999999999999", ""}) {
    EXPECT_TRUE(forbidden(verify(hook, standard_headers(kKey, timestamp)))) << timestamp;
  }
}

TEST(StandardWebhook, WithoutASecretNothingFits) {
  HookConfig hook = a_hook(HookConfig::Kind::standard);
  hook.secrets = {Secret{}};
  EXPECT_TRUE(forbidden(verify(hook, standard_headers(""))));
}

Headers github_headers(const std::string& key = kKey) {
  return {{"x-hub-signature-256", "sha256=" + crypto::to_hex(crypto::hmac_sha256(key, kBody))},
          {"x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"},
          {"x-github-event", "pull_request"}};
}

TEST(GithubWebhook, AGenuineOneTellsItsIdAndItsEvent) {
  const auto label = verify(a_hook(HookConfig::Kind::github), github_headers());
  ASSERT_TRUE(label) << label.error().message;
  EXPECT_EQ(label->delivery_id, "72d3162e-cc78-11e3-81ab-4c9367dc0958");
  EXPECT_EQ(label->event, "pull_request");
  EXPECT_TRUE(verify(a_hook(HookConfig::Kind::github), github_headers(kOldKey)));
}

TEST(GithubWebhook, AnythingElseIsForbidden) {
  const HookConfig hook = a_hook(HookConfig::Kind::github);
  EXPECT_TRUE(forbidden(verify(hook, github_headers("another key"))));
  EXPECT_TRUE(forbidden(verify(hook, github_headers(), kBody + " ")));
  for (const char* signature : {"", "sha256=", "sha256=zz", "sha1=00", "00"}) {
    Headers headers = github_headers();
    headers["x-hub-signature-256"] = signature;
    EXPECT_TRUE(forbidden(verify(hook, headers))) << signature;
  }
}

TEST(GithubWebhook, WithoutADeliveryIdItCannotBeTold) {
  Headers headers = github_headers();
  headers.erase("x-github-delivery");
  const auto label = verify(a_hook(HookConfig::Kind::github), headers);
  ASSERT_FALSE(label);
  EXPECT_EQ(label.error().code, ErrorCode::invalid);
}

TEST(GenericWebhook, HexadecimalOrBase64WithOrWithoutAPrefix) {
  HookConfig hook = a_hook(HookConfig::Kind::hmac);
  const auto digest = crypto::hmac_sha256(kKey, kBody);
  EXPECT_TRUE(verify(hook, {{"x-signature", crypto::to_hex(digest)}}));
  hook.signature_prefix = "hmac=";
  EXPECT_TRUE(verify(hook, {{"x-signature", "hmac=" + crypto::to_hex(digest)}}));
  EXPECT_TRUE(verify(hook, {{"x-signature", "hmac=00, hmac=" + crypto::to_hex(digest)}}));
  EXPECT_TRUE(forbidden(verify(hook, {{"x-signature", crypto::to_hex(digest)}})));
  hook.signature_base64 = true;
  EXPECT_TRUE(verify(hook, {{"x-signature", "hmac=" + crypto::to_base64(digest)}}));
  EXPECT_TRUE(forbidden(verify(hook, {{"x-signature", "hmac=" + crypto::to_hex(digest)}})));
  EXPECT_TRUE(forbidden(verify(hook, {})));
}

TEST(GenericWebhook, ATimestampIsSignedAndChecked) {
  HookConfig hook = a_hook(HookConfig::Kind::hmac);
  hook.timestamp_header = "x-time";
  const auto digest = crypto::to_hex(crypto::hmac_sha256(kKey, "1780000000." + kBody));
  EXPECT_TRUE(verify(hook, {{"x-signature", digest}, {"x-time", "1780000000"}}));
  EXPECT_TRUE(forbidden(verify(hook, {{"x-signature", digest}, {"x-time", "1780000001"}})));
  EXPECT_TRUE(forbidden(verify(hook, {{"x-signature", digest}})));
  EXPECT_TRUE(forbidden(verify(hook, {{"x-signature", digest}, {"x-time", "1780000000"}}, kBody, kVerifiedAt + 6min)));
}

TEST(GenericWebhook, TheIdIsAHeaderOrTheDigestOfTheBody) {
  HookConfig hook = a_hook(HookConfig::Kind::hmac);
  Headers headers{{"x-signature", crypto::to_hex(crypto::hmac_sha256(kKey, kBody))}, {"x-event", "Paid"}};
  const auto plain = verify(hook, headers);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->delivery_id, crypto::to_hex(crypto::sha256(kBody)));
  EXPECT_EQ(plain->event, "");
  hook.id_header = "x-id";
  hook.event_header = "x-event";
  const auto missing = verify(hook, headers);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().field, "x-id");
  headers["x-id"] = "d-1";
  const auto named = verify(hook, headers);
  ASSERT_TRUE(named);
  EXPECT_EQ(named->delivery_id, "d-1");
  EXPECT_EQ(named->event, "Paid");
}

TEST(GenericWebhook, AnEndlessIdIsRefused) {
  HookConfig hook = a_hook(HookConfig::Kind::hmac);
  hook.id_header = "x-id";
  const auto label = verify(
      hook, {{"x-signature", crypto::to_hex(crypto::hmac_sha256(kKey, kBody))}, {"x-id", std::string(2000, 'x')}});
  ASSERT_FALSE(label);
  EXPECT_EQ(label.error().code, ErrorCode::invalid);
}

HookConfig an_inbox_hook() {
  HookConfig hook;
  hook.source = "github";
  hook.target = "builds";
  return hook;
}

TEST(WebhookInbox, ADeliveryIsAnEventOfTheSource) {
  const auto request = publish_request(an_inbox_hook(), {"d-1", "pull_request"}, R"({"n" : 1.10})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->event_type, "github.pull_request");
  EXPECT_EQ(request->source, "github");
  EXPECT_EQ(request->target, "builds");
  EXPECT_EQ(request->payload, R"({"n" : 1.10})");
  EXPECT_EQ(request->idempotency_key, "github d-1");
}

TEST(WebhookInbox, TheSameDeliveryHasTheSameIdWhateverItSays) {
  const auto first = publish_request(an_inbox_hook(), {"d-1", "push"}, R"({"n":1})");
  const auto again = publish_request(an_inbox_hook(), {"d-1", "push"}, R"({"n":2})");
  const auto other = publish_request(an_inbox_hook(), {"d-2", "push"}, R"({"n":1})");
  HookConfig elsewhere = an_inbox_hook();
  elsewhere.source = "gitlab";
  EXPECT_EQ(first->id, again->id);
  EXPECT_NE(first->id, other->id);
  EXPECT_NE(first->id, publish_request(elsewhere, {"d-1", "push"}, R"({"n":1})")->id);
}

TEST(WebhookInbox, WhatIsNoObjectIsWrapped) {
  EXPECT_EQ(publish_request(an_inbox_hook(), {"d", ""}, "[1,2]")->payload, R"({"body":[1,2]})");
  EXPECT_EQ(publish_request(an_inbox_hook(), {"d", ""}, R"("text")")->payload, R"({"body":"text"})");
  const auto bad = publish_request(an_inbox_hook(), {"d", ""}, "{");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().field, "body");
}

TEST(WebhookInbox, TheTypeIsValidWhateverTheProviderCallsIt) {
  HookConfig hook = an_inbox_hook();
  EXPECT_EQ(webhook_event_type(hook, "Invoice.Paid"), "github.invoice.paid");
  EXPECT_EQ(webhook_event_type(hook, "check run/v2"), "github.check_run_v2");
  EXPECT_EQ(webhook_event_type(hook, ""), "github.received");
  EXPECT_EQ(webhook_event_type(hook, ".a..b."), "github.a.b");
  for (const std::string event : {"", "...", "\xFF\x00", "7up", "a b", "-"}) {
    EXPECT_TRUE(check_event_type(webhook_event_type(hook, event))) << event;
  }
  EXPECT_TRUE(check_event_type(webhook_event_type(hook, std::string(500, 'x'))));
  hook.event_type = "inbox.{event}.from_{source}";
  EXPECT_EQ(webhook_event_type(hook, "push"), "inbox.push.from_github");
}

}  // namespace
}  // namespace sluice::ops
