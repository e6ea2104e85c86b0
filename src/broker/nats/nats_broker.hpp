// The broker on NATS JetStream: one stream for the relay, a durable pull consumer per handler and shard.
#pragma once

#include <memory>

#include <sluice/result.hpp>
#include "broker/broker.hpp"
#include "broker/broker_options.hpp"

namespace sluice::broker {

/// The error names the option.
Result<std::unique_ptr<Broker>> open_nats(BrokerOptions options);

}  // namespace sluice::broker
