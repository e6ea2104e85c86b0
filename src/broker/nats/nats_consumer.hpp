// Consuming from JetStream: a durable pull consumer for messages without a key and one per shard, all of them asked
// through one inbox.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "broker/broker.hpp"
#include "broker/nats/nats_link.hpp"

namespace sluice::broker {

/// `sluice.3`, of a shard `sluice.3-7`: what the subjects of a lane begin with.
std::string lane_subject(std::string_view prefix, std::int64_t generation, std::optional<int> shard);

/// As Broker::consume.
Result<std::unique_ptr<Consumer>> consume_from_nats(std::shared_ptr<NatsLink> link, const std::string& stream,
                                                    const std::string& prefix, const ConsumerSpec& spec);

}  // namespace sluice::broker
