#include "config/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/gather.hpp"

namespace sluice::config {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

Sources with_key(std::string key, std::string value) {
  Sources sources;
  sources.environment["HOME"] = "/nonexistent";
  sources.environment.insert_or_assign(std::move(key), std::move(value));
  return sources;
}

std::string refusal(const Sources& sources) {
  const auto config = load(sources);
  EXPECT_FALSE(config);
  return config ? "" : config.error().message + " / " + config.error().hint;
}

TEST(Config, DefaultsAreTheDocumentedOnes) {
  const auto config = load(with_key("USER", "alice"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->store.display(), "sqlite:/nonexistent/.local/share/sluice/sluice.db");
  EXPECT_EQ(config->generation, std::nullopt);
  EXPECT_EQ(config->actor, "alice");
  EXPECT_EQ(config->worker.claim_ttl, seconds{300});
  EXPECT_EQ(config->payload_max_bytes, 256U * 1024U);
  EXPECT_EQ(config->retry.max_attempts, 5);
  EXPECT_EQ(config->retry.base, seconds{1});
  EXPECT_EQ(config->retry.cap, seconds{300});
  EXPECT_EQ(config->inbox_retry.base, seconds{5});
  EXPECT_EQ(config->inbox_retry.cap, seconds{300});
  EXPECT_EQ(config->inbox_retry.max_attempts, 5);
  EXPECT_EQ(config->inbox_retry.jitter, Jitter::none);
  EXPECT_EQ(config->retention.outbox.active, std::chrono::days{45});
  EXPECT_EQ(config->retention.event_handled.active, std::chrono::days{60});
}

TEST(Config, ThePatrolCanBeSwitchedOffAndHurried) {
  const auto standard = load(with_key("USER", "alice"));
  ASSERT_TRUE(standard) << standard.error().message;
  EXPECT_TRUE(standard->patrol.enabled);
  EXPECT_EQ(standard->patrol.interval, std::chrono::minutes{3});
  EXPECT_EQ(standard->patrol.overlooked_after, std::chrono::minutes{1});
  EXPECT_EQ(standard->patrol.settled_again, std::chrono::hours{24});
  EXPECT_FALSE(load(with_key("SLUICE_PATROL_ENABLED", "false"))->patrol.enabled);
  EXPECT_EQ(load(with_key("SLUICE_PATROL_INTERVAL", "200ms"))->patrol.interval, std::chrono::milliseconds{200});
  EXPECT_EQ(load(with_key("SLUICE_PATROL_OVERLOOKED_AFTER", "1s"))->patrol.overlooked_after, seconds{1});
  EXPECT_EQ(load(with_key("SLUICE_PATROL_SETTLED_AGAIN", "5s"))->patrol.settled_again, seconds{5});
  EXPECT_FALSE(load(with_key("SLUICE_PATROL_INTERVAL", "0s")));
}

TEST(Config, TheHttpServerIsLocalByDefault) {
  const auto config = load(with_key("USER", "alice"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->http.listen, (ListenAddress{"127.0.0.1", 7311}));
  EXPECT_EQ(config->http.prefix, "");
  EXPECT_TRUE(config->http.hosts.empty());
  EXPECT_EQ(config->http.max_body, 1024U * 1024U);
  EXPECT_EQ(config->http.max_connections, 1024);
  EXPECT_FALSE(config->http.read_only);
  EXPECT_FALSE(config->exec_enabled);
}

TEST(Config, TheHttpServerCanBeMovedAndSwitchedOff) {
  EXPECT_EQ(load(with_key("SLUICE_HTTP_LISTEN", "off"))->http.listen, std::nullopt);
  EXPECT_EQ(load(with_key("SLUICE_HTTP_LISTEN", "[::]:0"))->http.listen, (ListenAddress{"::", 0}));
  EXPECT_EQ(load(with_key("SLUICE_HTTP_PREFIX", "/ops/sluice"))->http.prefix, "/ops/sluice");
  EXPECT_THAT(load(with_key("SLUICE_HTTP_HOSTS", "a.example.com, b"))->http.hosts,
              testing::ElementsAre("a.example.com", "b"));
  EXPECT_TRUE(load(with_key("SLUICE_HTTP_READ_ONLY", "true"))->http.read_only);
  EXPECT_THAT(refusal(with_key("SLUICE_HTTP_LISTEN", "7311")), HasSubstr("127.0.0.1:7311"));
  EXPECT_THAT(refusal(with_key("SLUICE_HTTP_PREFIX", "ops")), HasSubstr("/ops/sluice"));
  EXPECT_THAT(refusal(with_key("SLUICE_HTTP_READ_ONLY", "yes")), HasSubstr("true false"));
}

TEST(Config, InboxRetryComesFromTheEnvironment) {
  Sources sources = with_key("RETRY_BASE_DELAY", "2");
  sources.environment["RETRY_MAX_DELAY"] = "60s";
  sources.environment["MAX_ATTEMPTS"] = "9";
  const auto config = load(sources);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->inbox_retry.base, seconds{2});
  EXPECT_EQ(config->inbox_retry.cap, seconds{60});
  EXPECT_EQ(config->inbox_retry.max_attempts, 9);
  EXPECT_EQ(config->retry.base, seconds{1});
}

TEST(Config, ABadValueNamesWhereItCameFromAndWhatIsExpected) {
  EXPECT_THAT(refusal(with_key("SLUICE_WORKER_CLAIM_TTL", "soon")),
              AllOf(HasSubstr("SLUICE_WORKER_CLAIM_TTL"), HasSubstr("`soon`"), HasSubstr("duration")));
  EXPECT_THAT(refusal(with_key("SLUICE_WORKER_CLAIM_TTL", "0s")), HasSubstr("above zero"));
  EXPECT_THAT(refusal(with_key("SLUICE_WORKER_BATCH", "0")), HasSubstr("from 1 to"));
  EXPECT_THAT(refusal(with_key("SLUICE_WORKER_BATCH", "12x")), HasSubstr("whole number"));
  EXPECT_THAT(refusal(with_key("MAX_ATTEMPTS", "99999999999999999999")), HasSubstr("MAX_ATTEMPTS"));
  EXPECT_THAT(refusal(with_key("SLUICE_GENERATION", "zero")), HasSubstr("SLUICE_GENERATION"));
  EXPECT_THAT(refusal(with_key("SLUICE_LOG_LEVEL", "loud")), HasSubstr("debug info warn error"));
  EXPECT_THAT(refusal(with_key("DATABASE_URL", "mysql://h/db")), HasSubstr("DATABASE_URL"));
}

TEST(Config, ABrokerWithoutTlsSaysHowToGetIt) {
  EXPECT_THAT(refusal(with_key("SLUICE_BROKER", "rediss://h:6379")),
              AllOf(HasSubstr("SLUICE_BROKER: this build has no TLS for Redis"), HasSubstr("stunnel")));
  EXPECT_THAT(refusal(with_key("SLUICE_BROKER", "amqp://h")), HasSubstr("nats://HOST:4222"));
}

TEST(Config, ALoserIsNotParsed) {
  Sources sources = with_key("DATABASE_URL", "mysql://h/db");
  sources.flags["store"] = "sqlite:a.db";
  EXPECT_TRUE(load(sources));
}

TEST(Config, RetryBoundsMustNotCross) {
  EXPECT_THAT(refusal(with_key("SLUICE_RETRY_BASE", "10m")), AllOf(HasSubstr("retry.max"), HasSubstr("retry.base")));
  EXPECT_THAT(refusal(with_key("RETRY_BASE_DELAY", "301s")), HasSubstr("inbox.retry.max"));
}

TEST(Config, DedupRowsMustOutliveTheirEvents) {
  EXPECT_THAT(refusal(with_key("SLUICE_RETENTION_OUTBOX_ACTIVE", "53d")),
              AllOf(HasSubstr("retention"), HasSubstr("retention.event_handled.active")));
  EXPECT_TRUE(load(with_key("SLUICE_RETENTION_OUTBOX_ACTIVE", "52d")));
}

}  // namespace
}  // namespace sluice::config
