// Publishing to Redis Streams: a pipeline of scripts, each of which adds one message unless its id was added before.
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "broker/broker.hpp"
#include "broker/redis/redis_link.hpp"

namespace sluice::broker {

/// The fields of an entry beside its headers.
inline constexpr std::string_view kIdField = "id";
inline constexpr std::string_view kDataField = "data";

/// As Publisher::publish.
std::vector<Result<Taken>> publish_on_redis(RedisLink& link, std::span<const OutgoingMessage> messages,
                                            Duration deadline, const std::stop_token& stop);

}  // namespace sluice::broker
