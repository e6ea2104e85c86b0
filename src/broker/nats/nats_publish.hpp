// Publishing to JetStream: all at once, each with its id, and an answer awaited for each.
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "broker/broker.hpp"
#include "broker/nats/nats_link.hpp"

namespace sluice::broker {

/// As Publisher::publish.
std::vector<Result<Taken>> publish_on_nats(NatsLink& link, std::span<const OutgoingMessage> messages, Duration deadline,
                                           const std::stop_token& stop);

}  // namespace sluice::broker
