#include "config/declare.hpp"

#include <filesystem>
#include <fstream>

#include "config/config.hpp"
#include "config/declare_fixture.hpp"
#include "config/gather.hpp"

namespace sluice::config {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string nats(std::string_view more) {
  return "[sinks.bus]\nkind = \"nats\"\nurls = [\"nats://a:4222\", \"tls://b:4222\"]\nsubject = \"events.{type}\"\n" +
         std::string{more} + '\n';
}
std::string redis(std::string_view more) {
  return "[sinks.bus]\nkind = \"redis\"\nurl = \"redis://a:6379\"\nstream = \"events:{type}\"\n" + std::string{more} +
         '\n';
}

TEST_F(Declaring, ANatsSinkWithEverything) {
  environment["BUS_PASSWORD"] = "hush";
  const SinkConfig sink =
      declared(nats("user = \"sluice\"\npassword_env = \"BUS_PASSWORD\"\ntls_ca = \"/ca.pem\"\ntls_cert = \"/c.pem\"\n"
                    "tls_key = \"/k.pem\"\ntls_server_name = \"bus\"\nformat = \"envelope\"\ntimeout = \"3s\"\n"
                    "connect_timeout = \"1s\"\nbreaker_failures = 3\nbreaker_rest = \"1m\"\nrate = 5"))
          .sinks.at(0);
  EXPECT_EQ(sink.kind, SinkConfig::Kind::nats);
  ASSERT_EQ(sink.servers.size(), 2U);
  EXPECT_EQ(sink.servers[1].reveal(), "tls://b:4222");
  EXPECT_EQ(sink.address, "events.{type}");
  EXPECT_EQ(sink.password.reveal(), "hush");
  EXPECT_EQ(sink.tls_server_name, "bus");
  EXPECT_EQ(sink.format, SinkConfig::Format::envelope);
  EXPECT_EQ(sink.timeout, std::chrono::seconds{3});
  EXPECT_EQ(sink.breaker_failures, 3);
  EXPECT_EQ(declared(nats("")).sinks.at(0).format, SinkConfig::Format::cloudevents_binary);
}

TEST_F(Declaring, ARedisSinkWithEverything) {
  environment["BUS_URL"] = "redis://:hush@b:6380/2";
  const SinkConfig sink = declared(
                              "[sinks.bus]\nkind = \"redis\"\nurl_env = \"BUS_URL\"\nstream = \"events\"\n"
                              "duplicate_window = \"10m\"\nmax_messages = 1000\n")
                              .sinks.at(0);
  EXPECT_EQ(sink.kind, SinkConfig::Kind::redis);
  EXPECT_EQ(sink.servers.at(0).reveal(), "redis://:hush@b:6380/2");
  EXPECT_EQ(sink.duplicate_window, std::chrono::minutes{10});
  EXPECT_EQ(sink.max_messages, 1000);
}

TEST_F(Declaring, ABrokerNeedsAnAddressAndAPlace) {
  EXPECT_THAT(refusal("[sinks.bus]\nkind = \"nats\"\nsubject = \"a\"\n"), HasSubstr("sinks.bus.urls is missing"));
  EXPECT_THAT(refusal("[sinks.bus]\nkind = \"nats\"\nurls = [\"http://a\"]\nsubject = \"a\"\n"), HasSubstr("nats://"));
  EXPECT_THAT(refusal("[sinks.bus]\nkind = \"nats\"\nurls = [\"nats://a\"]\n"),
              HasSubstr("sinks.bus.subject is missing"));
  EXPECT_THAT(refusal("[sinks.bus]\nkind = \"redis\"\nstream = \"a\"\n"), HasSubstr("sinks.bus.url is missing"));
  EXPECT_THAT(refusal("[sinks.bus]\nkind = \"redis\"\nurl = \"redis://a\"\n"),
              HasSubstr("sinks.bus.stream is missing"));
}

TEST_F(Declaring, ATemplateOfABrokerIsChecked) {
  EXPECT_THAT(refusal("[sinks.bus]\nkind = \"redis\"\nurl = \"redis://a\"\nstream = \"e:{kind}\"\n"),
              StartsWith("f.toml:4:1: sinks.bus.stream knows {type}"));
}

TEST_F(Declaring, RedisHasNoTlsAndSaysSo) {
  EXPECT_THAT(refusal("[sinks.bus]\nkind = \"redis\"\nurl = \"rediss://:hush@a\"\nstream = \"e\"\n"),
              AllOf(HasSubstr("TLS"), HasSubstr("stunnel"), Not(HasSubstr("hush"))));
}

TEST_F(Declaring, OneWayToLogIn) {
  EXPECT_THAT(refusal(nats("user = \"a\"\npassword = \"hush\"\ntoken = \"hush\"")),
              AllOf(HasSubstr("too many"), Not(HasSubstr("hush"))));
  EXPECT_THAT(refusal(nats("tls_cert = \"/c.pem\"")), HasSubstr("tls_key"));
}

TEST_F(Declaring, TheKeysOfOneBrokerAreUnknownToTheOther) {
  EXPECT_THAT(refusal(redis("subject = \"a\"")), HasSubstr("unknown key `sinks.bus.subject`"));
  EXPECT_THAT(refusal(nats("max_messages = 1")), HasSubstr("unknown key `sinks.bus.max_messages`"));
}

// What spans tables, and how they reach the configuration.

TEST_F(Declaring, TheFirstErrorOfTheFileIsTold) {
  EXPECT_THAT(refusal("[sinks.b]\nkind = \"x\"\n[sinks.a]\nkind = \"y\"\n"), StartsWith("f.toml:2:1: sinks.b.kind"));
}

TEST_F(Declaring, ASectionHoldsNamedTables) {
  EXPECT_THAT(refusal("sinks = 5\n"), AllOf(StartsWith("f.toml:1:1"), HasSubstr("[sinks.NAME]")));
  EXPECT_THAT(refusal("[sinks]\nkind = \"log\"\n"), AllOf(StartsWith("f.toml:2:1"), HasSubstr("[sinks.NAME]")));
}

TEST_F(Declaring, ANameCannotBeDeclaredTwice) {
  EXPECT_THAT(refusal("[sinks.a]\nkind = \"log\"\n[sinks.a]\nkind = \"log\"\n"), StartsWith("f.toml:3:"));
}

TEST_F(Declaring, ReachesTheConfigurationWithItsRetryKeys) {
  const auto path = std::filesystem::path{testing::TempDir()} / "declare_test.toml";
  std::ofstream{path}
      << "retry.attempts = 7\nexec.enabled = true\n[sinks.run]\nkind = \"exec\"\ncommand = \"/bin/true\"\n"
         "[subscriptions.\"a.b\"]\nsink = \"run\"\n";
  Sources sources;
  sources.file = path;
  const auto config = load(sources);
  std::filesystem::remove(path);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->declared.sinks.size(), 1U);
  EXPECT_EQ(config->declared.subscriptions.at(0).retry.max_attempts, 7);
  EXPECT_EQ(config->http.listen->display(), "127.0.0.1:7311");
}

}  // namespace

namespace {

constexpr std::string_view kDigest = "0e0e92dd4d4c6ce5e5c1f3d2e2ee8c2c1d5c60e2c0a9b2d5a5f0d8a5f3c4b2a1";

TEST_F(Declaring, ATokenIsKeptAsItsDigest) {
  environment["OPS_TOKEN"] = "correct-horse-battery";
  const Declarations plain = declared("[tokens.alice]\nrole = \"admin\"\ntoken = \"correct-horse-battery\"\n");
  const Declarations named = declared("[tokens.alice]\nrole = \"admin\"\ntoken_env = \"OPS_TOKEN\"\n");
  ASSERT_EQ(plain.tokens.size(), 1U);
  EXPECT_EQ(plain.tokens[0].name, "alice");
  EXPECT_EQ(plain.tokens[0].role, "admin");
  EXPECT_EQ(plain.tokens[0].where, "f.toml:1:9");
  EXPECT_EQ(plain.tokens[0].sha256.size(), 64U);
  EXPECT_EQ(plain.tokens[0].sha256, named.tokens.at(0).sha256);
}

TEST_F(Declaring, ADigestIsTakenInEitherCase) {
  std::string upper{kDigest};
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const Declarations all = declared("[tokens.\"ci@build\"]\nrole = \"viewer\"\ntoken_sha256 = \"" + upper + "\"\n");
  EXPECT_EQ(all.tokens.at(0).sha256, kDigest);
}

TEST_F(Declaring, ATokenNeedsARoleAndASecret) {
  EXPECT_THAT(refusal("[tokens.a]\ntoken = \"correct-horse-battery\"\n"),
              AllOf(StartsWith("f.toml:1:9: tokens.a.role is missing"), HasSubstr("viewer")));
  EXPECT_THAT(refusal("[tokens.a]\nrole = \"root\"\ntoken = \"correct-horse-battery\"\n"),
              AllOf(StartsWith("f.toml:2:1: tokens.a.role"), HasSubstr("viewer, operator, admin")));
  EXPECT_THAT(refusal("[tokens.a]\nrole = \"admin\"\n"), HasSubstr("tokens.a.token_sha256 is missing"));
}

TEST_F(Declaring, AWeakTokenIsRefusedWithoutRepeatingIt) {
  EXPECT_THAT(refusal("[tokens.a]\nrole = \"admin\"\ntoken = \"hunter2\"\n"),
              AllOf(StartsWith("f.toml:3:1: tokens.a.token"), HasSubstr("16"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(refusal("[tokens.a]\nrole = \"admin\"\ntoken_sha256 = \"abc\"\n"), HasSubstr("64 hexadecimal"));
}

TEST_F(Declaring, OneTokenCannotHaveTwoNames) {
  const std::string body = "role = \"admin\"\ntoken = \"correct-horse-battery\"\n";
  EXPECT_THAT(refusal("[tokens.a]\n" + body + "[tokens.b]\n" + body),
              AllOf(StartsWith("f.toml:4:9"), HasSubstr("tokens.b has the token of tokens.a")));
}

TEST_F(Declaring, AMissingVariableIsTheDaemonsProblem) {
  const Declarations all = declared("[tokens.a]\nrole = \"admin\"\ntoken_env = \"NOT_SET\"\n");
  ASSERT_TRUE(all.missing);
  EXPECT_THAT(all.missing->message, AllOf(StartsWith("f.toml:3:1: tokens.a.token_env"), HasSubstr("NOT_SET")));
}

}  // namespace

namespace {

using testing::ElementsAre;

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
