#include "config/declare_fixture.hpp"

namespace sluice::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string mailer(std::string_view more) {
  return "[subscriptions.\"billing.mailer\"]\nsink = \"log\"\n" + std::string{more} + '\n';
}

TEST_F(Declaring, ASubscriptionWithEverything) {
  const Declarations all =
      declared(mailer("events = [\"invoice.*\", \"payment.settled\"]\ntarget = \"billing\"\nretry = \"inbox\"\n"
                      "concurrency = 4\nrate = 10\ntimeout = \"30s\""));
  ASSERT_EQ(all.subscriptions.size(), 1U);
  const SubscriptionConfig& one = all.subscriptions[0];
  EXPECT_EQ(one.handler_name, "billing.mailer");
  EXPECT_THAT(one.event_types, ElementsAre("invoice.*", "payment.settled"));
  EXPECT_EQ(one.target, "billing");
  EXPECT_EQ(one.sink, "log");
  EXPECT_EQ(one.retry.jitter, Jitter::none);
  EXPECT_EQ(one.concurrency, 4);
  EXPECT_EQ(one.rate, 10);
  EXPECT_EQ(one.timeout, std::chrono::seconds{30});
}

TEST_F(Declaring, WhatIsNotSaidHasADefault) {
  const SubscriptionConfig one = declared(mailer("")).subscriptions.at(0);
  EXPECT_THAT(one.event_types, ElementsAre("*"));
  EXPECT_EQ(one.target, std::nullopt);
  EXPECT_EQ(one.retry.max_attempts, 5);
  EXPECT_EQ(one.retry.jitter, Jitter::full);
}

TEST_F(Declaring, ARetryPolicyOfItsOwn) {
  const RetryPolicy policy =
      declared(mailer("retry = { attempts = 9, base = \"2s\", multiplier = 3, cap = \"1h\", jitter = \"none\" }"))
          .subscriptions.at(0)
          .retry;
  EXPECT_EQ(policy.max_attempts, 9);
  EXPECT_EQ(policy.base, std::chrono::seconds{2});
  EXPECT_EQ(policy.multiplier, 3);
  EXPECT_EQ(policy.cap, std::chrono::hours{1});
  EXPECT_EQ(policy.jitter, Jitter::none);
  EXPECT_THAT(refusal(mailer("retry = { base = \"1h\" }")), HasSubstr("below base"));
  EXPECT_THAT(refusal(mailer("retry = { atempts = 1 }")),
              AllOf(HasSubstr("f.toml:3:"), HasSubstr("did you mean `attempts`?")));
  EXPECT_THAT(refusal(mailer("retry = \"often\"")), HasSubstr("standard, inbox"));
}

TEST_F(Declaring, AnUnknownSinkIsNamedWithTheNearest) {
  EXPECT_THAT(refusal("[subscriptions.\"billing.mailer\"]\nsink = \"shopp\"\n[sinks.shop]\nkind = \"log\"\n"),
              AllOf(HasSubstr("f.toml:1:"), HasSubstr("`shopp`"), HasSubstr("did you mean `shop`?")));
  EXPECT_THAT(refusal("[subscriptions.\"billing.mailer\"]\n"), HasSubstr("sink is missing"));
}

TEST_F(Declaring, AHandlerNameNeedsQuotes) {
  EXPECT_THAT(refusal("[subscriptions.billing.mailer]\nsink = \"log\"\n"),
              HasSubstr("write [subscriptions.\"billing.mailer\"]"));
  EXPECT_THAT(refusal("[subscriptions.mailer]\nsink = \"log\"\n"), HasSubstr("write [subscriptions.\"scope.name\"]"));
}

TEST_F(Declaring, PatternsAndTargetsAreChecked) {
  EXPECT_THAT(refusal(mailer("events = [\"Invoice!\"]")), AllOf(StartsWith("f.toml:3:1"), HasSubstr("`Invoice!`")));
  EXPECT_THAT(refusal(mailer("events = []")), HasSubstr("list of strings"));
  EXPECT_THAT(refusal(mailer("target = \"No Such\"")), HasSubstr("f.toml:3:1"));
}

TEST_F(Declaring, ASubscriptionToHooksOnlyHasTheInboxPolicyUnlessItSaysOtherwise) {
  const std::string hook =
      "[hooks.github]\nkind = \"github\"\nsecret = \"0123456789\"\n[subscriptions.\"a.b\"]\nsink = \"log\"\n";
  const auto jitter = [&](const std::string& rest) { return declared(hook + rest).subscriptions.at(0).retry.jitter; };
  EXPECT_EQ(jitter("events = [\"github.*\"]\n"), Jitter::none);
  EXPECT_EQ(jitter("events = [\"github.*\"]\nretry = \"standard\"\n"), Jitter::full);
  EXPECT_EQ(jitter("events = [\"github.*\", \"invoice.*\"]\n"), Jitter::full);
}

}  // namespace
}  // namespace sluice::config
