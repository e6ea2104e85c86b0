#include "core/attempt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

using testing::HasSubstr;

TEST(Attempt, AFailureKeepsItsErrorAndWhatTheReceiverAnswered) {
  Outcome outcome = Outcome::failed({"http_503", "https://a.example answered 503: busy", {}, false});
  outcome.response = {503, "busy"};
  const auto attempt = attempt_of(outcome);
  ASSERT_TRUE(attempt);
  EXPECT_EQ(attempt->outcome, AttemptOutcome::failed);
  EXPECT_EQ(attempt->error, "http_503: https://a.example answered 503: busy");
  EXPECT_EQ(attempt->status_code, 503);
  EXPECT_EQ(attempt->response, "busy");
}

TEST(Attempt, WhatWasNotTriedOrCutShortIsNone) {
  EXPECT_FALSE(attempt_of(Outcome::deferred_for(Duration{1})));
  EXPECT_FALSE(attempt_of(Outcome::released()));
}

TEST(Attempt, AnExpiredClaimSaysSo) {
  const auto attempt = attempt_of(Outcome::expired());
  ASSERT_TRUE(attempt);
  EXPECT_EQ(attempt->outcome, AttemptOutcome::expired);
  EXPECT_EQ(attempt->error, "ClaimExpired: claim expired");
}

TEST(Attempt, LongWordsAreCutBetweenCharacters) {
  std::string words;
  for (int i = 0; i < 2000; ++i) words += "ż";
  Outcome outcome = Outcome::failed({"E", words, {}, false});
  outcome.response = {500, words};
  const auto attempt = attempt_of(outcome);
  EXPECT_LE(attempt->error.size(), kAttemptErrorMaxBytes);
  EXPECT_GT(attempt->error.size(), kAttemptErrorMaxBytes - 4);
  EXPECT_EQ(attempt->response.size(), kAttemptResponseMaxBytes);
}

TEST(Attempt, NamesReadBack) {
  for (const std::string_view each : kAttemptOutcomes) EXPECT_EQ(name(attempt_outcome(each)), each);
  EXPECT_EQ(attempt_outcome("nonsense"), AttemptOutcome::failed);
}

TEST(Attempt, TheTraceIsPartOfTheTraceparent) {
  EXPECT_EQ(trace_id_of("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(trace_id_of(""), "");
}

TEST(Attempt, AListIsJson) {
  AttemptList list;
  EXPECT_TRUE(list.empty());
  Attempt attempt;
  attempt.handler_name = "billing.mailer";
  attempt.took = Duration{1500};
  list.add(Uuid{}, 3, attempt);
  EXPECT_FALSE(list.empty());
  EXPECT_THAT(list.json(), HasSubstr(R"("claim_seq":3,"handler_name":"billing.mailer")"));
  EXPECT_THAT(list.json(), HasSubstr(R"("duration_us":1500,"outcome":"failed")"));
}

}  // namespace
}  // namespace sluice
