#include "broker/redis/redis_broker.hpp"

#include <charconv>
#include <mutex>
#include <set>
#include <utility>

#include "broker/redis/redis.hpp"
#include "core/generation.hpp"
#include "core/try.hpp"
#include "core/words.hpp"

namespace sluice::broker {
namespace {

constexpr std::chrono::seconds kInspectTime{10};

// `name:value` of what INFO says.
std::string info_line(std::string_view info, std::string_view name) {
  for (const std::string_view line : split(info, '\n')) {
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ':') {
      return std::string{trimmed(line.substr(name.size() + 1))};
    }
  }
  return {};
}

// The value behind a name in a flat list of both; none: it is not there, or null.
const redisReply* member(const redisReply& list, std::string_view name) {
  for (std::size_t i = 0; i + 1 < list.elements; i += 2) {
    if (text_of(list.element[i]) == name) return list.element[i + 1];
  }
  return nullptr;
}

// Of the stream of a lane: `sluice:3`, of a shard `sluice:3-7`. None: it is no lane's.
std::optional<std::int64_t> generation_of(std::string_view stream, std::string_view prefix) {
  if (!stream.starts_with(std::string{prefix} + ':')) return std::nullopt;
  const std::string_view lane = stream.substr(prefix.size() + 1);
  std::int64_t generation = 0;
  const auto read = std::from_chars(lane.data(), lane.data() + lane.size(), generation);
  if (read.ec != std::errc{}) return std::nullopt;
  return generation;
}

class RedisBroker final : public Broker {
 public:
  RedisBroker(RedisUrl url, BrokerOptions options)
      : link_(std::make_shared<RedisLink>(std::move(url), std::move(options))) {}

  std::vector<Result<Taken>> publish(std::span<const OutgoingMessage> messages, Duration deadline,
                                     const std::stop_token& stop) override {
    return publish_on_redis(*link_, messages, deadline, stop);
  }

  Result<void> ensure(const StreamSpec&) override {
    SLUICE_TRY(const RedisLink::Lease connection, link_->lease());
    SLUICE_CHECK(connection->ask({"PING"}, RedisClock::now() + kInspectTime));
    return {};
  }

  Result<BrokerFacts> inspect() override {
    const auto deadline = RedisClock::now() + kInspectTime;
    SLUICE_TRY(const RedisLink::Lease connection, link_->lease());
    BrokerFacts facts;
    facts.kind = "redis";
    facts.server = link_->server();
    facts.stream = link_->options().prefix;
    facts.max_message_bytes = connection->max_bytes();
    facts.duplicate_window = link_->options().duplicate_window;
    SLUICE_TRY(const RedisReply info, connection->ask({"INFO", "server"}, deadline));
    facts.version = info_line(text_of(info.get()), "redis_version");
    SLUICE_CHECK(read_settings(*connection, deadline, facts));
    SLUICE_TRY(const RedisReply streams, connection->ask({"SMEMBERS", streams_key(link_->options().prefix)}, deadline));
    for (std::size_t i = 0; i < streams->elements; ++i) {
      SLUICE_CHECK(read_stream(*connection, text_of(streams->element[i]), deadline, facts));
    }
    return facts;
  }

  [[nodiscard]] std::string address(std::int64_t generation, std::optional<int> shard,
                                    std::string_view /*event_type*/) const override {
    return lane_stream(link_->options().prefix, generation, shard);
  }

  Result<std::unique_ptr<Consumer>> consume(const ConsumerSpec& spec) override {
    return consume_from_redis(link_, spec);
  }

 private:
  // Servers that others run may refuse CONFIG: then nobody knows.
  static Result<void> read_settings(RedisConnection& connection, RedisClock::time_point deadline, BrokerFacts& facts) {
    for (const std::string_view name : {"appendonly", "appendfsync", "maxmemory-policy"}) {
      const auto reply = connection.ask({"CONFIG", "GET", name}, deadline);
      if (!reply && reply.error().retry == Retry::in_doubt) return reply.error();
      if (!reply || (*reply)->elements != 2) continue;
      const std::string value{text_of((*reply)->element[1])};
      if (name == "appendonly") facts.appendonly = value == "yes";
      if (name == "appendfsync") facts.appendfsync = value;
      if (name == "maxmemory-policy") facts.maxmemory_policy = value;
    }
    return {};
  }

  static Result<void> read_stream(RedisConnection& connection, std::string_view stream, RedisClock::time_point deadline,
                                  BrokerFacts& facts) {
    SLUICE_TRY(const RedisReply length, connection.ask({"XLEN", stream}, deadline));
    const auto groups = connection.ask({"XINFO", "GROUPS", stream}, deadline);
    if (!groups && groups.error().retry == Retry::in_doubt) return groups.error();
    if (!groups) return {};  // deleted by hand
    facts.stream_exists = true;
    facts.subjects.emplace_back(stream);
    facts.messages += length->integer;
    const auto generation = generation_of(stream, facts.stream);
    for (std::size_t i = 0; i < (*groups)->elements; ++i) {
      const redisReply& group = *(*groups)->element[i];
      ConsumerFacts consumer{{}, std::string{stream}, -1, 0};
      if (const redisReply* name = member(group, "name")) consumer.name = text_of(name);
      if (generation && check_handler_name(consumer.name)) {
        consumer.handler_name = consumer.name;
        consumer.generation = *generation;
      }
      if (const redisReply* pending = member(group, "pending")) consumer.unsettled = pending->integer;
      const redisReply* lag = member(group, "lag");
      if (lag != nullptr && lag->type == REDIS_REPLY_INTEGER) consumer.waiting = lag->integer;
      facts.consumers.push_back(std::move(consumer));
    }
    return {};
  }

  const std::shared_ptr<RedisLink> link_;
};

}  // namespace

Result<std::unique_ptr<Broker>> open_redis(BrokerOptions options) {
  if (options.urls.size() != 1) {
    return invalid("url", "Redis takes one url, that of the primary: redis://127.0.0.1:6379");
  }
  if (options.urls.front().starts_with("rediss://") || !options.tls_ca.empty() || !options.tls_cert.empty()) {
    return invalid(
        "url", "this build has no TLS for Redis: put stunnel or another TLS proxy on this machine, and write redis://");
  }
  if (options.prefix.empty()) return invalid("prefix", "prefix must not be empty: every key begins with it");
  SLUICE_TRY(RedisUrl url, parse_redis_url(options.urls.front()));
  return std::unique_ptr<Broker>{std::make_unique<RedisBroker>(std::move(url), std::move(options))};
}

}  // namespace sluice::broker
