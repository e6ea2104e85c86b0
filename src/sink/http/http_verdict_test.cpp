#include "sink/http/http_verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::sink {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const Timestamp kAnsweredAt = *parse_iso8601("2026-10-21T07:27:00Z");

Verdict verdict(const Answer& answer, const StatusRules& rules = {}) {
  return verdict_of(answer, rules, "https://a.example.com/***", kAnsweredAt);
}

Verdict verdict(int status, const StatusRules& rules = {}) { return verdict(Answer{.status = status}, rules); }

TEST(AnswerVerdict, EveryTwoHundredIsHandled) {
  for (const int status : {200, 201, 202, 204, 299}) EXPECT_EQ(verdict(status).kind, Verdict::Kind::handled) << status;
}

TEST(AnswerVerdict, MostOthersAreTriedAgain) {
  for (const int status : {301, 302, 307, 400, 401, 403, 404, 408, 409, 422, 425, 429, 500, 502, 503, 504}) {
    EXPECT_EQ(verdict(status).kind, Verdict::Kind::failed) << status;
    EXPECT_FALSE(verdict(status).terminal) << status;
    EXPECT_EQ(verdict(status).error_class, "http_" + std::to_string(status));
  }
}

TEST(AnswerVerdict, SomeFailAtOnce) {
  EXPECT_TRUE(verdict(413).terminal);
  EXPECT_TRUE(verdict(410).terminal);
  EXPECT_THAT(verdict(410).message, HasSubstr("disabled until it is resumed"));
}

TEST(AnswerVerdict, BothListsAreTheOperators) {
  const StatusRules rules{.terminal = {400, 422}, .transient = {410, 413}};
  EXPECT_TRUE(verdict(422, rules).terminal);
  EXPECT_FALSE(verdict(413, rules).terminal);
  EXPECT_FALSE(verdict(410, rules).terminal);
  EXPECT_FALSE(is_gone({.status = 410}, rules));
  EXPECT_TRUE(is_gone({.status = 410}, {}));
}

TEST(AnswerVerdict, TheReceiverMaySayWhen) {
  EXPECT_EQ(verdict({.status = 503, .headers = {{"retry-after", "120"}}}).retry_after, 120s);
  EXPECT_EQ(verdict({.status = 429, .headers = {{"retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"}}}).retry_after, 60s);
  EXPECT_EQ(verdict({.status = 503, .headers = {{"retry-after", "soon"}}}).retry_after, std::nullopt);
  EXPECT_EQ(verdict({.status = 413, .headers = {{"retry-after", "5"}}}).retry_after, std::nullopt);
}

TEST(AnswerVerdict, RepeatsTheBeginningOfTheAnswerHarmlessly) {
  const Verdict said = verdict({.status = 500, .body = "oh\x1b[31m no\r\n" + std::string(600, 'x') + "END"});
  EXPECT_THAT(said.message, AllOf(HasSubstr("https://a.example.com/*** answered 500: oh"), Not(HasSubstr("\x1b")),
                                  Not(HasSubstr("END"))));
  EXPECT_THAT(verdict({.status = 500, .body = "busy\r\n"}).message, EndsWith("500: busy"));
  EXPECT_THAT(verdict(302).message, EndsWith("302 (redirects are not followed)"));
}

TEST(AnswerVerdict, NoAnswerIsFiledUnderItsReason) {
  const Verdict none = verdict({.reason = NoAnswer::connection_refused, .detail = "Connection refused"});
  EXPECT_EQ(none.error_class, "connection_refused");
  EXPECT_EQ(none.message, "no answer from https://a.example.com/***: Connection refused");
  EXPECT_FALSE(none.terminal);
}

TEST(AnswerTrouble, IsTheReceiversNotTheEvents) {
  for (const int status : {408, 425, 429, 500, 503}) EXPECT_TRUE(is_trouble({.status = status})) << status;
  for (const int status : {200, 301, 400, 404, 422}) EXPECT_FALSE(is_trouble({.status = status})) << status;
  EXPECT_TRUE(is_trouble({.reason = NoAnswer::timeout}));
  EXPECT_FALSE(is_trouble({.reason = NoAnswer::stopped}));
}

}  // namespace
}  // namespace sluice::sink
