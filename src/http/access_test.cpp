#include "http/access.hpp"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

Request with(Headers headers) { return {"GET", "/v1/me", {}, std::move(headers), {}, {}}; }

AccessRules with_tokens() {
  AccessRules rules;
  rules.tokens = {{"alice", Role::operator_, crypto::sha256("s3cret")}, {"bot", Role::viewer, crypto::sha256("look")}};
  rules.own_name = "root@box";
  return rules;
}

TEST(Access, WithoutTokensEverybodyIsTheDaemonsUser) {
  const Access access{AccessRules{.own_name = "root@box"}};
  EXPECT_EQ(access.caller(with({}))->role, Role::admin);
  EXPECT_EQ(access.caller(with({}))->name, "root@box");
  EXPECT_FALSE(access.caller(with({}))->by_token);
}

TEST(Access, ATokenNamesItsCallerAndRole) {
  const Access access{with_tokens()};
  const auto alice = access.caller(with({{"authorization", "Bearer s3cret"}}));
  ASSERT_TRUE(alice);
  EXPECT_EQ(alice->name, "alice");
  EXPECT_EQ(alice->role, Role::operator_);
  EXPECT_TRUE(alice->by_token);
  EXPECT_EQ(access.caller(with({{"authorization", "bearer look"}}))->name, "bot");
}

TEST(Access, AnythingElseIsNobody) {
  const Access access{with_tokens()};
  for (const char* value : {"", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3crets", "Basic s3cret", "s3cret",
                            "Bearer  s3cret", "Bearer s3cret "}) {
    EXPECT_FALSE(access.caller(with({{"authorization", value}}))) << value;
  }
  EXPECT_FALSE(access.caller(with({})));
}

TEST(Access, ReadOnlyLowersEveryRole) {
  AccessRules rules = with_tokens();
  rules.read_only = true;
  EXPECT_EQ(Access{rules}.caller(with({{"authorization", "Bearer s3cret"}}))->role, Role::viewer);
  EXPECT_EQ(Access{AccessRules{.read_only = true}}.caller(with({}))->role, Role::viewer);
}

TEST(Access, OnLoopbackOnlyItsOwnNamesAreAnswered) {
  const Access access{AccessRules{.hosts = {"sluice.internal"}}};
  for (const char* host : {"localhost", "localhost:7311", "127.0.0.1:7311", "[::1]:7311", "LOCALHOST",
                           "sluice.internal", "sluice.internal:80"}) {
    EXPECT_TRUE(access.knows_host(with({{"host", host}}))) << host;
  }
  for (const char* host :
       {"", "evil.example", "localhost.evil.example", "10.0.0.1", "[::2]", "127.0.0.1.evil.example", "127.evil.example",
        "[::1].evil.example", "[::1", "localhost:80@evil.example", "localhost:evil.example"}) {
    EXPECT_FALSE(access.knows_host(with({{"host", host}}))) << host;
  }
  EXPECT_FALSE(access.knows_host(with({})));
}

TEST(Access, ElsewhereATokenProtectsUnlessNamesAreGiven) {
  AccessRules rules = with_tokens();
  rules.loopback = false;
  EXPECT_TRUE(Access{rules}.knows_host(with({{"host", "any.example"}})));
  rules.hosts = {"sluice.internal"};
  EXPECT_FALSE(Access{rules}.knows_host(with({{"host", "any.example"}})));
}

TEST(Access, PagesOfOtherOriginsAreRefused) {
  const Access access{AccessRules{}};
  EXPECT_TRUE(access.same_origin(with({{"host", "localhost:7311"}})));
  EXPECT_TRUE(access.same_origin(with({{"host", "localhost:7311"}, {"origin", "http://localhost:7311"}})));
  EXPECT_TRUE(access.same_origin(with({{"host", "Sluice.example"}, {"origin", "https://sluice.example"}})));
  for (const char* origin :
       {"null", "http://evil.example", "http://localhost:7312", "http://localhost:7311.evil", ""}) {
    EXPECT_FALSE(access.same_origin(with({{"host", "localhost:7311"}, {"origin", origin}}))) << origin;
  }
}

TEST(Access, APageUnderAListedNameIsOursWhateverTheProxyCallsTheServer) {
  const Access access{AccessRules{.hosts = {"ops.example", "Console.Example"}}};
  for (const char* origin : {"https://ops.example", "https://ops.example:8443", "https://console.example"}) {
    EXPECT_TRUE(access.same_origin(with({{"host", "127.0.0.1:7311"}, {"origin", origin}}))) << origin;
  }
  for (const char* origin : {"https://ops.example.evil", "https://evil.example", "https://ops.example@evil.example",
                             "https://ops.example:80@evil.example", "null", "https://"}) {
    EXPECT_FALSE(access.same_origin(with({{"host", "127.0.0.1:7311"}, {"origin", origin}}))) << origin;
  }
}

TEST(Access, AServerThatOthersReachNeedsAToken) {
  AccessRules rules;
  rules.loopback = false;
  const auto refused = check_rules(rules);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "http.listen");
  rules.tokens = with_tokens().tokens;
  EXPECT_TRUE(check_rules(rules));
  EXPECT_TRUE(check_rules({}));
}

TEST(Access, LoopbackAddresses) {
  for (const char* host : {"127.0.0.1", "127.8.9.1", "::1", "localhost"}) EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "example.com", ""}) EXPECT_FALSE(is_loopback(host)) << host;
}

}  // namespace
}  // namespace sluice::http
