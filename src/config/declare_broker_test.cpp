#include "config/declare_fixture.hpp"

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

}  // namespace
}  // namespace sluice::config
