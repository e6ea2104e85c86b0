// What only Redis has: keys that hold something else, memory that is full, streams that are trimmed.
#include <array>
#include <cstdio>

#include "tests/broker/broker_fixture.hpp"

namespace sluice::test {
namespace {

using broker::OutgoingMessage;
using testing::HasSubstr;

class RedisBroker : public testing::Test {
 protected:
  /// What redis-cli says.
  static std::string ask(const RedisServer& server, const std::string& words) {
    const std::string command = "redis-cli -p " + std::to_string(server.port()) + ' ' + words;
    FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> bytes{};
    const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), pipe);
    ::pclose(pipe);
    std::string said(bytes.data(), count);
    said.erase(said.find_last_not_of('\n') + 1);
    return said;
  }
  static std::vector<OutgoingMessage> numbered(int from, int count) {
    std::vector<OutgoingMessage> messages;
    for (int i = from; i < from + count; ++i) messages.push_back({"sluice:3", "id-" + std::to_string(i), {}, "{}"});
    return messages;
  }
};

TEST_F(RedisBroker, WhatWasRefusedIsNoDuplicateLater) {
  const RedisServer server;
  const auto broker = opened({.urls = {server.url()}});
  ask(server, "SET sluice:3 something");
  const auto refused = broker->publish(numbered(0, 1), 5s, {});
  ASSERT_FALSE(refused[0]);
  EXPECT_EQ(refused[0].error().code, ErrorCode::conflict);
  EXPECT_EQ(refused[0].error().retry, Retry::safe);
  ask(server, "DEL sluice:3");
  const auto taken = broker->publish(numbered(0, 1), 5s, {});
  ASSERT_TRUE(taken[0]) << taken[0].error().message;
  EXPECT_FALSE(taken[0]->duplicate);
  EXPECT_EQ(ask(server, "XLEN sluice:3"), "1");
}

TEST_F(RedisBroker, OneThatIsRefusedKeepsNoOtherBack) {
  const RedisServer server;
  const auto broker = opened({.urls = {server.url()}});
  ask(server, "SET sluice:4 something");
  auto messages = numbered(0, 4);
  messages[1].address = "sluice:4";
  messages[2].address = "";
  messages[3].id = messages[0].id;
  const auto outcomes = broker->publish(messages, 5s, {});
  ASSERT_EQ(outcomes.size(), 4U);
  ASSERT_TRUE(outcomes[0]) << outcomes[0].error().message;
  EXPECT_FALSE(outcomes[0]->duplicate);
  ASSERT_FALSE(outcomes[1]);
  EXPECT_EQ(outcomes[1].error().code, ErrorCode::conflict) << outcomes[1].error().message;
  EXPECT_EQ(outcomes[1].error().retry, Retry::safe);
  ASSERT_FALSE(outcomes[2]);
  EXPECT_EQ(outcomes[2].error().retry, Retry::never);
  ASSERT_TRUE(outcomes[3]) << outcomes[3].error().message;
  EXPECT_TRUE(outcomes[3]->duplicate);
  EXPECT_EQ(ask(server, "XLEN sluice:3"), "1");
}

TEST_F(RedisBroker, ManyComeInTheirOrder) {
  const RedisServer server;
  const auto broker = opened({.urls = {server.url()}});
  // More than one call of the script takes, by number and by bytes, and more than are sent together.
  auto messages = numbered(0, 1200);
  for (std::size_t i = 0; i < messages.size(); i += 100) messages[i].body = std::string(600'000, 'x');
  for (const auto& outcome : broker->publish(messages, 30s, {})) ASSERT_TRUE(outcome) << outcome.error().message;
  auto reader = *broker->consume({.handler_name = "tests.reader", .generation = 3, .max_unsettled = 2000});
  std::vector<std::string> expected;
  for (const OutgoingMessage& message : messages) expected.push_back(message.id);
  std::vector<std::string> ids;
  while (ids.size() < messages.size()) {
    const auto fetched = reader->fetch(500, 5s, {});
    ASSERT_TRUE(fetched) << fetched.error().message;
    ASSERT_FALSE(fetched->empty());
    for (const auto& message : *fetched) ids.push_back(message.id);
  }
  EXPECT_EQ(ids, expected);
  for (const auto& outcome : broker->publish(messages, 30s, {})) EXPECT_TRUE(outcome && outcome->duplicate);
}

TEST_F(RedisBroker, AnIdIsForgottenAfterTheWindow) {
  const RedisServer server;
  const auto broker = opened({.urls = {server.url()}, .duplicate_window = 10min});
  ASSERT_TRUE(broker->publish(numbered(0, 1), 5s, {})[0]);
  const int seconds = std::stoi(ask(server, "TTL sluice:3:id:id-0"));
  EXPECT_GT(seconds, 500);
  EXPECT_LE(seconds, 600);
}

TEST_F(RedisBroker, AServerWithoutMemoryIsTriedAgain) {
  const RedisServer server{{"--maxmemory", "1mb", "--maxmemory-policy", "noeviction"}};
  const auto broker = opened({.urls = {server.url()}});
  auto messages = numbered(0, 1);
  messages[0].body = std::string(900'000, 'x');
  auto outcomes = broker->publish(messages, 5s, {});
  for (int i = 1; outcomes[0] && i < 20; ++i) {
    messages[0].id = "more-" + std::to_string(i);
    outcomes = broker->publish(messages, 5s, {});
  }
  ASSERT_FALSE(outcomes[0]);
  EXPECT_EQ(outcomes[0].error().code, ErrorCode::exhausted) << outcomes[0].error().message;
  EXPECT_EQ(outcomes[0].error().retry, Retry::safe);
}

TEST_F(RedisBroker, TrimsTheOldestButNothingThatAGroupNeeds) {
  const RedisServer server;
  const auto broker = opened({.urls = {server.url()}, .max_messages = 10});
  const auto publish = [&](int from, int count) {
    for (const auto& outcome : broker->publish(numbered(from, count), 5s, {})) ASSERT_TRUE(outcome);
  };
  publish(0, 30);
  EXPECT_EQ(ask(server, "XLEN sluice:3"), "10") << "nobody reads: the newest stay";

  auto reader = *broker->consume({.handler_name = "tests.reader", .generation = 3});
  publish(30, 20);
  EXPECT_EQ(ask(server, "XLEN sluice:3"), "30") << "the group has read none of them";
  const auto held = reader->fetch(30, 5s, {});
  ASSERT_EQ(held->size(), 30U);
  publish(50, 1);
  EXPECT_EQ(ask(server, "XLEN sluice:3"), "31") << "the group has settled none of them";
  std::vector<broker::Settlement> done;
  for (std::size_t i = 0; i + 5 < held->size(); ++i) done.push_back({.token = (*held)[i].token});
  for (const auto& outcome : reader->settle(done, 5s)) ASSERT_TRUE(outcome);
  publish(51, 1);
  EXPECT_EQ(ask(server, "XLEN sluice:3"), "10");
}

TEST_F(RedisBroker, WhatHasLostItsPlaceInTheDueSetComesAgain) {
  const RedisServer server;
  const auto broker = opened({.urls = {server.url()}});
  ASSERT_TRUE(broker->publish(numbered(0, 1), 5s, {})[0]);
  const broker::ConsumerSpec spec{.handler_name = "tests.reader", .generation = 3, .ack_wait = 200ms};
  auto reader = *broker->consume(spec);
  ASSERT_EQ(reader->fetch(1, 5s, {})->size(), 1U);
  ask(server, "DEL sluice:3:due:tests.reader");
  reader = *broker->consume(spec);
  const auto again = reader->fetch(1, 10s, {});
  ASSERT_EQ(again->size(), 1U);
  EXPECT_EQ(again->at(0).delivered, 2);
}

TEST_F(RedisBroker, WhoLostAMessageCannotPutItOff) {
  const RedisServer server;
  const auto broker = opened({.urls = {server.url()}});
  ASSERT_TRUE(broker->publish(numbered(0, 1), 5s, {})[0]);
  auto reader = *broker->consume({.handler_name = "tests.reader", .generation = 3, .ack_wait = 200ms});
  const auto first = reader->fetch(1, 5s, {});
  const auto second = reader->fetch(1, 5s, {});
  ASSERT_EQ(second->size(), 1U);
  const std::vector<broker::Settlement> late{
      {.token = first->at(0).token, .what = broker::Settlement::What::retry, .delay = 1h}};
  const auto outcomes = reader->settle(late, 5s);
  ASSERT_FALSE(outcomes[0]) << "it is in other hands";
  EXPECT_EQ(outcomes[0].error().code, ErrorCode::conflict);
  EXPECT_EQ(reader->fetch(1, 5s, {})->size(), 1U);
}

TEST_F(RedisBroker, AGroupThatIsGoneIsSaid) {
  const RedisServer server;
  const auto broker = opened({.urls = {server.url()}});
  auto reader = *broker->consume({.handler_name = "tests.reader", .generation = 3});
  ask(server, "DEL sluice:3");
  const auto gone = reader->fetch(1, 1s, {});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::not_found) << gone.error().message;
}

TEST_F(RedisBroker, TellsWhatItsAnswersAreWorth) {
  const RedisServer always;
  const RedisServer everysec{{"--appendfsync", "everysec", "--maxmemory-policy", "allkeys-lru"}};
  const auto safe = opened({.urls = {always.url()}})->inspect();
  const auto less = opened({.urls = {everysec.url()}})->inspect();
  EXPECT_THAT(worth_of_answer(*safe), HasSubstr("loses nothing"));
  EXPECT_THAT(worth_of_answer(*less), HasSubstr("everysec"));
  EXPECT_EQ(less->maxmemory_policy, "allkeys-lru");
  EXPECT_THAT(safe->version, testing::StartsWith("7."));
}

}  // namespace
}  // namespace sluice::test
