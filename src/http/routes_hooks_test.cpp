#include "http/routes_hooks.hpp"

#include "crypto/digest.hpp"
#include "http/publish_fixture.hpp"
#include "tests/support/recording_tracer.hpp"

namespace sluice::http {
namespace {

using namespace std::chrono_literals;
using config::HookConfig;
using config::Secret;

const std::string kKey = "thirty-two bytes of a secret key";

std::vector<HookConfig> hooks() {
  std::vector<HookConfig> hooks(2);
  hooks[0].source = "pay";
  hooks[0].secrets = {Secret{kKey}};
  hooks[1].source = "github";
  hooks[1].kind = HookConfig::Kind::github;
  hooks[1].secrets = {Secret{kKey}};
  return hooks;
}

class HookRoute : public PublishFixture {
 protected:
  Request standard(const std::string& id, const std::string& body) const {
    const std::string timestamp = std::to_string(now_.time_since_epoch() / 1s);
    Request request;
    request.body = body;
    request.headers = {
        {"content-type", "application/json"},
        {"webhook-id", id},
        {"webhook-timestamp", timestamp},
        {"webhook-signature", "v1," + crypto::to_base64(crypto::hmac_sha256(kKey, id + "." + timestamp + "." + body))}};
    return request;
  }
  static Request github(const std::string& id, const std::string& body, const std::string& content_type) {
    Request request;
    request.body = body;
    request.headers = {{"content-type", content_type},
                       {"x-github-delivery", id},
                       {"x-github-event", "push"},
                       {"x-hub-signature-256", "sha256=" + crypto::to_hex(crypto::hmac_sha256(kKey, body))}};
    return request;
  }
  Response post(const std::string& source, Request request) { return ask(routes_, std::move(request), source); }

  std::vector<Route> routes_ = hook_routes(endpoint_, hooks());
};

TEST_F(HookRoute, AGenuineDeliveryIsStoredBeforeTheAnswer) {
  const Response answer = post("pay", standard("msg_1", R"({"type":"invoice.paid","n":1})"));
  EXPECT_EQ(answer.status, 202) << answer.body;
  EXPECT_EQ(text_of(answer, "outcome"), "published");
  const auto events = store_.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].envelope.event_type(), "pay.invoice.paid");
  EXPECT_EQ(events[0].envelope.source(), "pay");
  EXPECT_EQ(events[0].envelope.payload(), R"({"type":"invoice.paid","n":1})");
  EXPECT_EQ(text_of(answer, "event_id"), events[0].envelope.event_id().to_string());
}

TEST_F(HookRoute, ADeliveryBeginsATraceWhateverItsSenderSays) {
  test::RecordingTracer tracer;
  options_.tracer = &tracer;
  PublishEndpoint traced{queue_, faulty_, options_};
  Request request = standard("msg_1", R"({"type":"invoice.paid"})");
  request.headers.emplace("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  EXPECT_EQ(ask(hook_routes(traced, hooks()), std::move(request), "pay").status, 202);
  ASSERT_EQ(tracer.spans().size(), 1U);
  const test::RecordedSpan span = tracer.spans()[0];
  EXPECT_EQ(span.name, "publish pay.invoice.paid");
  EXPECT_EQ(span.kind, SpanKind::producer);
  EXPECT_EQ(span.parent, "");
  const auto events = store_.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].envelope.trace_context(), span.traceparent);
  EXPECT_EQ(span.attributes.at("messaging.message.id"), events[0].envelope.event_id().to_string());
}

TEST_F(HookRoute, ADeliveryThatCannotBeStoredSaysSoInItsSpan) {
  test::RecordingTracer tracer;
  options_.tracer = &tracer;
  PublishEndpoint traced{queue_, faulty_, options_};
  faulty_.fail_verb("publish", {ErrorCode::exhausted, Retry::never, "the disk is full", {}, {}});
  EXPECT_GE(ask(hook_routes(traced, hooks()), standard("msg_1", "{}"), "pay").status, 500);
  ASSERT_EQ(tracer.spans().size(), 1U);
  EXPECT_EQ(tracer.spans()[0].message, "the disk is full");
}

TEST_F(HookRoute, TheSameDeliveryTwiceIsOneEvent) {
  post("pay", standard("msg_1", R"({"type":"a"})"));
  now_ += 10min;
  const Response again = post("pay", standard("msg_1", R"({"type":"a"})"));
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(text_of(again, "outcome"), "duplicate");
  EXPECT_EQ(store_.events().size(), 1U);
}

TEST_F(HookRoute, WhatIsNotGenuineIsNotStored) {
  Request wrong = standard("msg_1", "{}");
  wrong.body = R"({"n":1})";
  Request missing = standard("msg_1", "{}");
  missing.headers.erase("webhook-signature");
  Request replayed = standard("msg_1", "{}");
  EXPECT_EQ(post("pay", wrong).status, 401);
  EXPECT_EQ(post("pay", missing).status, 401);
  EXPECT_EQ(post("github", standard("msg_1", "{}")).status, 401);
  now_ += 5min + 1s;
  EXPECT_EQ(post("pay", replayed).status, 401);
  EXPECT_TRUE(store_.events().empty());
}

TEST_F(HookRoute, AnUnknownSourceIsNotFound) { EXPECT_EQ(post("stranger", standard("msg_1", "{}")).status, 404); }

TEST_F(HookRoute, AFormWithThePayloadIsTaken) {
  const Response answer = post(
      "github", github("d-1", "payload=%7B%22n%22%3A1%2C%22s%22%3A%22a+b%22%7D", "application/x-www-form-urlencoded"));
  EXPECT_EQ(answer.status, 202) << answer.body;
  EXPECT_EQ(store_.events().at(0).envelope.payload(), R"({"n":1,"s":"a b"})");
  EXPECT_EQ(store_.events().at(0).envelope.event_type(), "github.push");
  EXPECT_EQ(post("github", github("d-2", "other=1", "application/x-www-form-urlencoded")).status, 400);
}

TEST_F(HookRoute, TextIsWrappedAndOtherMediaTypesAreRefused) {
  EXPECT_EQ(post("github", github("d-1", "say \"hi\"", "text/plain")).status, 202);
  EXPECT_EQ(store_.events().at(0).envelope.payload(), R"({"body":"say \"hi\""})");
  EXPECT_EQ(post("github", github("d-2", "<a/>", "application/xml")).status, 415);
  EXPECT_EQ(post("github", github("d-3", "\xFF", "text/plain")).status, 400);
  EXPECT_EQ(post("github", github("d-4", "{", "application/json")).status, 400);
  EXPECT_EQ(store_.events().size(), 1U);
}

TEST_F(HookRoute, APayloadThatIsTooLargeIsRefused) {
  EXPECT_EQ(post("github", github("d-1", '"' + std::string(2000, 'x') + '"', "application/json")).status, 413);
  EXPECT_GE(routes_.front().body_limit, endpoint_.limits().payload_bytes);
}

TEST_F(HookRoute, WhatCouldNotBeStoredIsNotAcknowledged) {
  faulty_.fail_call(1, test::Fault::before);
  EXPECT_EQ(post("pay", standard("msg_1", "{}")).status, 503);
  EXPECT_EQ(post("pay", standard("msg_1", "{}")).status, 202);
}

TEST_F(HookRoute, AskedByAnyone) { EXPECT_EQ(routes_.front().role, Role::anyone); }

}  // namespace
}  // namespace sluice::http
