// A real broker of either kind, and what tests do with it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "broker/broker.hpp"
#include "broker/broker_options.hpp"
#include "broker/open_broker.hpp"
#include "tests/support/broker_server.hpp"
#include "tests/support/tcp_gate.hpp"

namespace sluice::test {

using namespace std::chrono_literals;

enum class Kind { nats, redis };
inline void PrintTo(Kind kind, std::ostream* out) { *out << (kind == Kind::nats ? "nats" : "redis"); }

/// Either server, with its small differences.
class Server {
 public:
  explicit Server(Kind kind, const std::string& nats = "", const std::vector<std::string>& redis = {},
                  int port = free_port()) {
    if (kind == Kind::nats) nats_.emplace(nats, port);
    if (kind == Kind::redis) redis_.emplace(redis, port);
  }
  void start() { nats_ ? nats_->start() : redis_->start(); }
  void kill() { nats_ ? nats_->kill() : redis_->kill(); }
  void stop() { nats_ ? nats_->stop() : redis_->stop(); }
  [[nodiscard]] int port() const { return nats_ ? nats_->port() : redis_->port(); }
  [[nodiscard]] std::string url() const { return nats_ ? nats_->url() : redis_->url(); }

 private:
  std::optional<NatsServer> nats_;
  std::optional<RedisServer> redis_;
};

inline std::string url_of(Kind kind, int port) {
  return (kind == Kind::nats ? "nats://127.0.0.1:" : "redis://127.0.0.1:") + std::to_string(port);
}

inline std::unique_ptr<broker::Broker> opened(broker::BrokerOptions options) {
  auto made = broker::open_broker(std::move(options));
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return *std::move(made);
}

class BrokerTest : public testing::TestWithParam<Kind> {
 protected:
  [[nodiscard]] static Kind kind() { return GetParam(); }
  static std::unique_ptr<broker::Broker> open(const std::string& url) { return opened({.urls = {url}}); }

  /// Numbered messages of generation 3, of this shard.
  static std::vector<broker::OutgoingMessage> numbered(const broker::Broker& broker, int from, int count,
                                                       std::optional<int> shard = {},
                                                       const std::string& type = "order.paid") {
    std::vector<broker::OutgoingMessage> messages;
    for (int i = from; i < from + count; ++i) {
      const std::string number = std::to_string(i);
      messages.push_back({broker.address(3, shard, type),
                          "id-" + number,
                          {{"ce-type", type}, {"ce-note", "Grün " + number}},
                          "{\"number\":" + number + "}"});
    }
    return messages;
  }
  static std::vector<Result<broker::Taken>> publish(broker::Broker& broker,
                                                    const std::vector<broker::OutgoingMessage>& messages) {
    return broker.publish(messages, 10s, {});
  }
  static void publish_all(broker::Broker& broker, const std::vector<broker::OutgoingMessage>& messages) {
    for (const auto& outcome : publish(broker, messages)) ASSERT_TRUE(outcome) << outcome.error().message;
  }
  static std::unique_ptr<broker::Consumer> consume(broker::Broker& broker, broker::ConsumerSpec spec = {}) {
    if (spec.handler_name.empty()) spec.handler_name = "tests.reader";
    spec.generation = 3;
    auto made = broker.consume(spec);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return *std::move(made);
  }
  /// Exactly so many, unless they do not come in time.
  static std::vector<broker::IncomingMessage> fetch(broker::Consumer& consumer, std::size_t count,
                                                    Duration wait = 10s) {
    std::vector<broker::IncomingMessage> all;
    const auto deadline = std::chrono::steady_clock::now() + wait;
    while (all.size() < count && std::chrono::steady_clock::now() < deadline) {
      auto some = consumer.fetch(count - all.size(), wait, {});
      EXPECT_TRUE(some) << some.error().message;
      if (!some) break;
      for (auto& message : *some) all.push_back(std::move(message));
    }
    return all;
  }
  /// Those that came by then: none is what most ask for.
  static std::vector<broker::IncomingMessage> fetch_within(broker::Consumer& consumer, Duration wait) {
    auto some = consumer.fetch(100, wait, {});
    EXPECT_TRUE(some) << some.error().message;
    return *std::move(some);
  }
  static void settle(broker::Consumer& consumer, const std::vector<broker::IncomingMessage>& messages,
                     broker::Settlement::What what = broker::Settlement::What::done, Duration delay = {}) {
    std::vector<broker::Settlement> settlements;
    for (const auto& message : messages) settlements.push_back({message.token, what, delay});
    for (const auto& outcome : consumer.settle(settlements, 10s)) EXPECT_TRUE(outcome) << outcome.error().message;
  }
  static std::vector<std::string> ids(const std::vector<broker::IncomingMessage>& messages) {
    std::vector<std::string> names;
    for (const auto& message : messages) names.push_back(message.id);
    return names;
  }
};

}  // namespace sluice::test
