// Consuming from Redis Streams: the stream without a key and one per shard, in one consumer group each.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "broker/broker.hpp"
#include "broker/redis/redis_link.hpp"

namespace sluice::broker {

/// `sluice:3`, of a shard `sluice:3-7`.
std::string lane_stream(std::string_view prefix, std::int64_t generation, std::optional<int> shard);
/// The set of the streams that the relay has, for whoever looks at them.
std::string streams_key(std::string_view prefix);

/// As Broker::consume.
Result<std::unique_ptr<Consumer>> consume_from_redis(std::shared_ptr<RedisLink> link, const ConsumerSpec& spec);

}  // namespace sluice::broker
