#include "config/declare_fixture.hpp"

namespace sluice::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kHttp = "[sinks.shop]\nkind = \"http\"\nurl = \"https://shop.example.com/in\"\n";

std::string http(std::string_view more) { return std::string{kHttp} + std::string{more} + '\n'; }

TEST_F(Declaring, AnHttpSinkWithEverything) {
  environment["OLD_KEY"] = std::string{kKey};
  environment["SHOP_TOKEN"] = "Bearer t";
  const Declarations all =
      declared(http("secrets = [\"" + std::string{kKey} +
                    "\"]\nsecret_envs = [\"OLD_KEY\"]\n"
                    "headers = { X-Team = \"a\" }\nheader_envs = { Authorization = \"SHOP_TOKEN\" }\n"
                    "format = \"cloudevents_structured\"\ntimeout = \"3s\"\nconnect_timeout = \"500ms\"\n"
                    "allow = [\"10.0.0.0/8\", \"::1\"]\nterminal = [400, 422]\ntransient = [413]\n"
                    "breaker_failures = 3\nbreaker_rest = \"1m\"\nconcurrency = 7\nrate = 2.5"));
  ASSERT_EQ(all.sinks.size(), 1U);
  const SinkConfig& sink = all.sinks[0];
  EXPECT_EQ(sink.kind, SinkConfig::Kind::http);
  EXPECT_EQ(sink.url, "https://shop.example.com/in");
  EXPECT_EQ(sink.secrets.size(), 2U);
  EXPECT_EQ(sink.headers.at("X-Team").reveal(), "a");
  EXPECT_EQ(sink.headers.at("Authorization").reveal(), "Bearer t");
  EXPECT_EQ(sink.format, SinkConfig::Format::cloudevents_structured);
  EXPECT_EQ(sink.timeout, std::chrono::seconds{3});
  EXPECT_EQ(sink.connect_timeout, std::chrono::milliseconds{500});
  EXPECT_THAT(sink.allow, ElementsAre("10.0.0.0/8", "::1"));
  EXPECT_THAT(sink.terminal, ElementsAre(400, 422));
  EXPECT_THAT(sink.transient, ElementsAre(413));
  EXPECT_EQ(sink.breaker_failures, 3);
  EXPECT_EQ(sink.breaker_rest, std::chrono::minutes{1});
  EXPECT_EQ(sink.concurrency, 7);
  EXPECT_EQ(sink.rate, 2.5);
}

TEST_F(Declaring, AnHttpSinkMayBeUnsigned) { EXPECT_TRUE(declared(kHttp).sinks.at(0).secrets.empty()); }

TEST_F(Declaring, AMistypedKeyIsNamedWithTheNearest) {
  EXPECT_THAT(refusal("[sinks.shop]\nkind = \"http\"\nulr = \"https://a\"\n"),
              AllOf(StartsWith("f.toml:3:1: unknown key `sinks.shop.ulr`"), HasSubstr("did you mean `url`?"),
                    HasSubstr("breaker_rest")));
}

TEST_F(Declaring, ASinkNeedsAKindAndAnAddress) {
  EXPECT_THAT(refusal("[sinks.shop]\nurl = \"https://a\"\n"), HasSubstr("sinks.shop.kind is missing"));
  EXPECT_THAT(refusal("[sinks.shop]\nkind = \"htpp\"\n"), HasSubstr("http, nats, redis, exec, log"));
  EXPECT_THAT(refusal("[sinks.shop]\nkind = \"http\"\n"), StartsWith("f.toml:1:8: sinks.shop.url is missing"));
  EXPECT_THAT(refusal("[sinks.shop]\nkind = \"http\"\nurl = \"ftp://a\"\n"), HasSubstr("https://"));
  EXPECT_THAT(refusal("[sinks.Shop]\nkind = \"log\"\n"), StartsWith("f.toml:1:8: sinks.Shop is no name"));
}

TEST_F(Declaring, ABadSecretIsRefusedWithoutRepeatingIt) {
  for (const std::string secret : {"whsec_c2hvcnQ=", "hunter2hunter2hunter2hunter2", "whsec_!!!"}) {
    EXPECT_THAT(
        refusal(http("secret = \"" + secret + '"')),
        AllOf(StartsWith("f.toml:4:1: sinks.shop.secret"), HasSubstr("24 to 64 bytes"), Not(HasSubstr(secret))));
  }
}

TEST_F(Declaring, HeadersThatTheSinkSetsAreItsOwn) {
  EXPECT_THAT(refusal(http("headers = { Webhook-Id = \"1\" }")), HasSubstr("must not set Webhook-Id"));
  EXPECT_THAT(refusal(http("headers = { Host = \"a\" }")), HasSubstr("must not set Host"));
  EXPECT_THAT(refusal(http("headers = { \"a b\" = \"1\" }")), HasSubstr("no header: a b"));
  EXPECT_THAT(refusal(http("headers = { A = \"x\\ny\" }")), HasSubstr("that of A"));
}

TEST_F(Declaring, NumbersAndListsHaveBounds) {
  EXPECT_THAT(refusal(http("allow = [\"localhost\"]")), AllOf(HasSubstr("f.toml:4:1"), HasSubstr("`localhost`")));
  EXPECT_THAT(refusal(http("terminal = [200]")), HasSubstr("from 300 to 599"));
  EXPECT_THAT(refusal(http("terminal = [422]\ntransient = [422]")), HasSubstr("both name 422"));
  EXPECT_THAT(refusal(http("concurrency = 0")), HasSubstr("from 1 to 1000"));
  EXPECT_THAT(refusal(http("rate = -1")), HasSubstr("sinks.shop.rate"));
  EXPECT_THAT(refusal(http("timeout = \"soon\"")), HasSubstr("duration"));
}

TEST_F(Declaring, ProgramsRunOnlyWhereTheyMay) {
  const std::string exec = "[sinks.run]\nkind = \"exec\"\ncommand = [\"/bin/cat\", \"-\"]\n";
  EXPECT_THAT(refusal(exec), AllOf(StartsWith("f.toml:2:1: sinks.run.kind"), HasSubstr("exec.enabled = true")));
  exec_enabled = true;
  EXPECT_THAT(declared(exec).sinks.at(0).command, ElementsAre("/bin/cat", "-"));
  EXPECT_THAT(refusal("[sinks.run]\nkind = \"exec\"\ncommand = [\"cat\"]\n"), HasSubstr("absolute path"));
  EXPECT_THAT(refusal("[sinks.run]\nkind = \"exec\"\n"), HasSubstr("command is missing"));
}

}  // namespace
}  // namespace sluice::config
