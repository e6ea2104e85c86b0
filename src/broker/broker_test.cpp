#include "broker/broker.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sluice::broker {
namespace {

TEST(Headers, AreFoundWhateverTheirCase) {
  const Headers headers{{"ce-id", "1"}, {"CE-ID", "2"}};
  EXPECT_EQ(value_of(headers, "Ce-Id"), "1");
  EXPECT_EQ(value_of(headers, "ce-type"), std::nullopt);
}

TEST(ShardOf, IsTheSameInEveryVersion) {
  EXPECT_EQ(shard_of("customer-1", 16), 7);
  EXPECT_EQ(shard_of("customer-2", 16), 10);
  EXPECT_EQ(shard_of("", 16), 5);
  std::set<int> used;
  for (int i = 0; i < 1000; ++i) used.insert(shard_of("key-" + std::to_string(i), 16));
  EXPECT_EQ(used.size(), 16U);
  EXPECT_EQ(*used.rbegin(), 15);
}

TEST(WorthOfAnswer, SaysWhatACrashMayTakeBack) {
  BrokerFacts nats{.kind = "nats", .storage = "file", .replicas = 1};
  EXPECT_NE(worth_of_answer(nats).find("power failure"), std::string::npos);
  nats.replicas = 3;
  EXPECT_NE(worth_of_answer(nats).find("majority of 3"), std::string::npos);
  nats.storage = "memory";
  EXPECT_NE(worth_of_answer(nats).find("memory"), std::string::npos);

  BrokerFacts redis{.kind = "redis"};
  EXPECT_NE(worth_of_answer(redis).find("does not tell"), std::string::npos);
  redis.appendonly = false;
  EXPECT_NE(worth_of_answer(redis).find("appendonly is off"), std::string::npos);
  redis.appendonly = true;
  redis.appendfsync = "everysec";
  EXPECT_NE(worth_of_answer(redis).find("everysec"), std::string::npos);
  redis.appendfsync = "always";
  EXPECT_NE(worth_of_answer(redis).find("loses nothing"), std::string::npos);
}

}  // namespace
}  // namespace sluice::broker
