// The broker on Redis Streams: a stream per generation and shard, a consumer group per handler.
#pragma once

#include <memory>

#include <sluice/result.hpp>
#include "broker/broker.hpp"
#include "broker/broker_options.hpp"

namespace sluice::broker {

/// The error names the option.
Result<std::unique_ptr<Broker>> open_redis(BrokerOptions options);

}  // namespace sluice::broker
