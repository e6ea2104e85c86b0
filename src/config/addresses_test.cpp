#include "config/addresses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/gather.hpp"

namespace sluice::config {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(SentryDsn, BecomesEndpointAndKey) {
  const auto dsn = parse_sentry_dsn("https://abc123@o1.ingest.sentry.io/42", "SENTRY_DSN");
  ASSERT_TRUE(dsn);
  EXPECT_EQ(dsn->endpoint, "https://o1.ingest.sentry.io/api/42/envelope/");
  EXPECT_EQ(dsn->public_key, "abc123");
}

TEST(SentryDsn, MayHaveAPortAPathAndAnOldSecret) {
  const auto dsn = parse_sentry_dsn("http://key:old@[::1]:9000/tools/sentry/7", "SENTRY_DSN");
  ASSERT_TRUE(dsn);
  EXPECT_EQ(dsn->endpoint, "http://[::1]:9000/tools/sentry/api/7/envelope/");
  EXPECT_EQ(dsn->public_key, "key");
}

TEST(SentryDsn, AnythingElseIsRefusedWithoutRepeatingIt) {
  for (const char* text : {"secret", "ftp://secret@h/1", "https://h/1", "https://@h/1", "https://secret@h",
                           "https://secret@h/", "https://secret@h/x", "https://secret@:80/1", "https://secret@h:x/1",
                           "https://sec ret@h/1", "https://secret@h/1\r\nX: y", "https://secret@/1"}) {
    const auto dsn = parse_sentry_dsn(text, "SENTRY_DSN");
    ASSERT_FALSE(dsn) << text;
    EXPECT_THAT(dsn.error().message, AllOf(HasSubstr("SENTRY_DSN"), HasSubstr("alerts.sentry_dsn"),
                                           HasSubstr("PUBLIC_KEY"), Not(HasSubstr("secret"))));
  }
}

TEST(WebhookUrl, IsHttpOrHttps) {
  for (const char* text : {"http://h", "https://h:8443/hook?x=1", "https://user:pass@h/hook", "http://[::1]:80/"}) {
    EXPECT_TRUE(check_webhook_url(text, "here")) << text;
  }
  for (const char* text : {"", "h/hook", "file:///etc/passwd", "https://", "https://h/a b", "https://h:port/"}) {
    const auto checked = check_webhook_url(text, "here");
    ASSERT_FALSE(checked) << text;
    EXPECT_THAT(checked.error().message, HasSubstr("here: alerts.webhook_url"));
  }
}

TEST(BearerToken, FitsIntoAHeaderLine) {
  EXPECT_TRUE(check_bearer_token("s3cr3t-._~+/=", "here"));
  for (const char* text : {"", "a b", "a\r\nX: y", "\xC3\xA9"}) EXPECT_FALSE(check_bearer_token(text, "here")) << text;
}

Sources with_variable(const std::string& variable, const std::string& value) {
  Sources sources;
  sources.environment = {{"HOME", "/nonexistent"}, {variable, value}};
  return sources;
}

TEST(AlertConfig, IsOffUnlessAReceiverIsSet) {
  const auto config = load(with_variable("USER", "alice"));
  ASSERT_TRUE(config);
  EXPECT_FALSE(config->alerts.sentry);
  EXPECT_FALSE(config->alerts.webhook_url);
  EXPECT_EQ(config->alerts.webhook_token, "");
  EXPECT_EQ(config->alerts.window, std::chrono::minutes{5});
  EXPECT_FALSE(load(with_variable("SENTRY_DSN", "none"))->alerts.sentry);
}

TEST(AlertConfig, ComesFromTheEnvironment) {
  EXPECT_EQ(load(with_variable("SENTRY_DSN", "https://k@h/1"))->alerts.sentry->public_key, "k");
  EXPECT_EQ(load(with_variable("SLUICE_SENTRY_DSN", "https://k@h/1"))->alerts.sentry->endpoint,
            "https://h/api/1/envelope/");
  EXPECT_EQ(load(with_variable("SLUICE_ALERT_WEBHOOK_URL", "https://h/x"))->alerts.webhook_url, "https://h/x");
  EXPECT_EQ(load(with_variable("SLUICE_ALERT_WEBHOOK_TOKEN", "t"))->alerts.webhook_token, "t");
}

TEST(AlertConfig, IsShownWithoutItsSecrets) {
  EXPECT_EQ(shown(*find_key("alerts.sentry_dsn"), "https://secret@sentry.example.com/42"),
            "https://sentry.example.com/***");
  EXPECT_EQ(shown(*find_key("alerts.webhook_url"), "https://hooks.example.com/T0/secret"),
            "https://hooks.example.com/***");
  EXPECT_EQ(shown(*find_key("alerts.webhook_token"), "secret"), "***");
  EXPECT_EQ(shown(*find_key("alerts.webhook_token"), "none"), "none");
}

}  // namespace

namespace {

TEST(ListenAddress, ReadsNamesAndAddresses) {
  EXPECT_EQ(parse_listen_address("127.0.0.1:7311"), (ListenAddress{"127.0.0.1", 7311}));
  EXPECT_EQ(parse_listen_address("localhost:0"), (ListenAddress{"localhost", 0}));
  EXPECT_EQ(parse_listen_address("[::1]:80"), (ListenAddress{"::1", 80}));
}

TEST(ListenAddress, IsShownAsItIsWritten) {
  for (const char* text : {"127.0.0.1:7311", "[::1]:80"}) EXPECT_EQ(parse_listen_address(text)->display(), text);
}

TEST(ListenAddress, RefusesTheRest) {
  for (const char* text : {"", ":80", "host", "host:", "host:65536", "host:-1", "host:80x", "::1:80", "[]:80",
                           "[host]:80", "a b:80", "http://host:80", "host/:80"}) {
    EXPECT_EQ(parse_listen_address(text), std::nullopt) << text;
  }
}

TEST(Prefix, IsAPathWithoutASlashAtTheEnd) {
  EXPECT_EQ(parse_prefix("/ops/sluice"), "/ops/sluice");
  EXPECT_EQ(parse_prefix("/"), "");
  EXPECT_EQ(parse_prefix(""), "");
}

TEST(Prefix, RefusesWhatABrowserWouldChange) {
  for (const char* text : {"ops", "/ops/", "/a//b", "/a/../b", "/a b", "/a?b", "/a#b", "/a%20b", "//"}) {
    EXPECT_EQ(parse_prefix(text), std::nullopt) << text;
  }
}

}  // namespace

}  // namespace sluice::config
