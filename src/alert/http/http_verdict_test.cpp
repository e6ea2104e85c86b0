#include "alert/http/http_verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::alert {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

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
