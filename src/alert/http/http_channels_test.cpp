#include "alert/http/http_channels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json.hpp"

namespace sluice::alert {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Sender kSender{"billing", "production", "1.2.3"};
const Timestamp kSentAt = *parse_iso8601("2026-04-25T01:43:05Z");

Alert an_alert() {
  Alert alert;
  alert.alert_id = *Uuid::parse("0196b3a1-0000-7000-8000-00000000abcd");
  alert.suppressed = 3;
  FailureNotice& failure = alert.failure;
  failure.event_id = *Uuid::parse("0196b3a1-0000-7000-8000-000000000001");
  failure.event_type = "platform.scan.completed";
  failure.source = "platform";
  failure.target = "billing";
  failure.workspace_id = *Uuid::parse("11111111-2222-4333-8444-555555555555");
  failure.generation = 7;
  failure.handler_name = "billing.charge";
  failure.error_class = "IntegrityError";
  failure.fingerprint = "00ff00ff00ff00ff";
  failure.last_error = "IntegrityError: duplicate key \"x\"";
  failure.attempts = 5;
  failure.trace_context = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  failure.failed_at = *parse_iso8601("2026-04-25T01:43:02Z");
  return alert;
}

TEST(WebhookBody, SaysWhatFailedInStableFields) {
  EXPECT_EQ(webhook_body(an_alert(), kSender),
            R"({"alert":"event.failed","alert_id":"0196b3a1-0000-7000-8000-00000000abcd",)"
            R"("service":"billing","environment":"production",)"
            R"("event_id":"0196b3a1-0000-7000-8000-000000000001","event_type":"platform.scan.completed",)"
            R"("source":"platform","target":"billing","workspace_id":"11111111-2222-4333-8444-555555555555",)"
            R"("generation":7,"handler_name":"billing.charge","error_class":"IntegrityError",)"
            R"("fingerprint":"00ff00ff00ff00ff","last_error":"IntegrityError: duplicate key \"x\"","attempts":5,)"
            R"("suppressed":3,"trace_context":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",)"
            R"("failed_at":"2026-04-25T01:43:02.000000Z"})");
}

TEST(WebhookBody, WhatIsNotKnownIsNull) {
  Alert alert = an_alert();
  alert.failure.event_type.clear();
  alert.failure.target.reset();
  alert.failure.handler_name.clear();
  alert.failure.trace_context.reset();
  EXPECT_THAT(webhook_body(alert, kSender),
              AllOf(HasSubstr(R"("event_type":null)"), HasSubstr(R"("target":null)"),
                    HasSubstr(R"("handler_name":null)"), HasSubstr(R"("trace_context":null)")));
}

TEST(SentryEnvelope, IsThreeLinesWithTheLengthOfTheThird) {
  const std::string envelope = sentry_envelope(an_alert(), kSender, kSentAt);
  const std::string event = sentry_event(an_alert(), kSender);
  EXPECT_EQ(envelope, R"({"event_id":"0196b3a100007000800000000000abcd","sent_at":"2026-04-25T01:43:05.000000Z"})"
                      "\n{\"type\":\"event\",\"length\":" +
                          std::to_string(event.size()) + "}\n" + event);
}

TEST(SentryEnvelope, TheLengthCountsBytesAndTheEventIsOneLine) {
  Alert alert = an_alert();
  alert.failure.last_error = "Error: line\nbreak \xC3\xA9 \xFF";
  const std::string event = sentry_event(alert, kSender);
  EXPECT_TRUE(json::check(event, "event"));
  EXPECT_THAT(event, Not(HasSubstr("\n")));
  EXPECT_THAT(sentry_envelope(alert, kSender, kSentAt),
              HasSubstr("\"length\":" + std::to_string(event.size()) + "}\n"));
}

TEST(SentryEvent, HasTheFieldsOfSentryAndOfTheFailure) {
  const std::string event = sentry_event(an_alert(), kSender);
  EXPECT_TRUE(json::check(event, "event"));
  EXPECT_THAT(event,
              AllOf(HasSubstr(R"("event_id":"0196b3a100007000800000000000abcd","timestamp":"2026-04-25T01:43:02)"),
                    HasSubstr(R"("platform":"native","level":"error")"),
                    HasSubstr(R"("environment":"production","release":"sluice@1.2.3")"),
                    HasSubstr(R"("fingerprint":["sluice","00ff00ff00ff00ff"])")));
  EXPECT_THAT(event, HasSubstr(R"("exception":{"values":[{"type":"IntegrityError","value":"duplicate key \"x\""}]})"));
  EXPECT_THAT(event, HasSubstr("\"formatted\":\"platform.scan.completed failed in billing.charge after 5 attempts\""));
  EXPECT_THAT(event,
              AllOf(HasSubstr(R"("event_type":"platform.scan.completed","source":"platform","target":"billing")"),
                    HasSubstr(R"("handler_name":"billing.charge")"), HasSubstr(R"("generation":"7")"),
                    HasSubstr(R"("attempts":"5")"), HasSubstr(R"("suppressed":3)")));
  EXPECT_THAT(event, HasSubstr(R"("trace":{"type":"trace","trace_id":"0af7651916cd43dd8448eb211c80319c",)"
                               R"("span_id":"b7ad6b7169203331"})"));
}

TEST(SentryEvent, ATagIsShortAndHasNoLineBreak) {
  Alert alert = an_alert();
  alert.failure.handler_name = "a\n" + std::string(300, 'b');
  EXPECT_THAT(sentry_event(alert, kSender), HasSubstr("\"handler_name\":\"a " + std::string(198, 'b') + "\""));
}

TEST(SentryEvent, LeavesOutWhatIsNotKnown) {
  Alert alert = an_alert();
  alert.failure.event_type.clear();
  alert.failure.handler_name.clear();
  alert.failure.fingerprint.clear();
  alert.failure.trace_context = "not a traceparent";
  const std::string event = sentry_event(alert, kSender);
  EXPECT_TRUE(json::check(event, "event"));
  EXPECT_THAT(event, AllOf(Not(HasSubstr("\"fingerprint\":[")), Not(HasSubstr("\"trace\":{"))));
  EXPECT_THAT(event, HasSubstr("0196b3a1-0000-7000-8000-000000000001 failed after 5 attempts"));
}

using namespace std::chrono_literals;

const Timestamp kNow = *parse_iso8601("2026-10-21T07:27:00Z");

http_client::Answer answered(int status, std::map<std::string, std::string, std::less<>> headers = {},
                             std::string body = "") {
  return {status, std::move(headers), std::move(body)};
}

TEST(HttpVerdict, EveryTwoHundredIsAccepted) {
  for (const int status : {200, 202, 204}) {
    const auto sent = verdict_of(answered(status), kNow);
    ASSERT_TRUE(sent);
    EXPECT_TRUE(sent->accepted);
    EXPECT_EQ(sent->retry_after, std::nullopt);
  }
}

TEST(HttpVerdict, TooManyRequestsAskForSilence) {
  const auto sent = verdict_of(answered(429, {{"retry-after", "17"}}), kNow);
  ASSERT_TRUE(sent);
  EXPECT_FALSE(sent->accepted);
  EXPECT_EQ(sent->retry_after, 17s);
  EXPECT_EQ(verdict_of(answered(429), kNow)->retry_after, 60s);
  EXPECT_EQ(verdict_of(answered(429, {{"retry-after", "soon"}}), kNow)->retry_after, 60s);
}

TEST(HttpVerdict, SentrysOwnHeaderGoesBeforeRetryAfter) {
  const std::map<std::string, std::string, std::less<>> headers{{"retry-after", "1"},
                                                                {"x-sentry-rate-limits", "90:error:key"}};
  EXPECT_EQ(verdict_of(answered(429, headers), kNow)->retry_after, 90s);
  const auto accepted = verdict_of(answered(200, headers), kNow);
  EXPECT_TRUE(accepted->accepted);
  EXPECT_EQ(accepted->retry_after, 90s);
}

TEST(HttpVerdict, ServerErrorsMayBeTriedAgainAndRefusalsNot) {
  for (const int status : {500, 502, 503, 504, 408})
    EXPECT_EQ(verdict_of(answered(status), kNow).error().retry, Retry::safe);
  for (const int status : {301, 302, 400, 401, 404, 413}) {
    EXPECT_EQ(verdict_of(answered(status), kNow).error().retry, Retry::never) << status;
  }
  EXPECT_EQ(verdict_of(answered(503, {{"retry-after", "5"}}), kNow)->retry_after, 5s);
}

TEST(HttpVerdict, TheErrorQuotesTheAnswerOnOneLine) {
  const auto refused = verdict_of(answered(400, {}, "{\"detail\":\r\n\"invalid\"}\n"), kNow);
  EXPECT_THAT(refused.error().message, HasSubstr("400: {\"detail\":"));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("\n")));
  EXPECT_LT(verdict_of(answered(400, {}, std::string(4096, 'x')), kNow).error().message.size(), 300U);
}

TEST(RateLimits, OnlyThoseOfErrorEventsCount) {
  EXPECT_EQ(parse_rate_limits("60:error:organization"), 60s);
  EXPECT_EQ(parse_rate_limits("60:transaction;error:key:reason"), 60s);
  EXPECT_EQ(parse_rate_limits("60:transaction:organization"), std::nullopt);
  EXPECT_EQ(parse_rate_limits("60::organization"), 60s) << "no category means all";
  EXPECT_EQ(parse_rate_limits("10:error:key, 2700:default;error:organization, 9999:replay:key"), 2700s);
  for (const char* text : {"", ":", "x:error:key", "60", ",,"}) EXPECT_EQ(parse_rate_limits(text), std::nullopt);
}

}  // namespace
}  // namespace sluice::alert
