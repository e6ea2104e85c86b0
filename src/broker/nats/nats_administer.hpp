// What stands on the server: the relay's stream and its consumers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "broker/broker.hpp"
#include "broker/nats/nats_link.hpp"

namespace sluice::broker {

struct NatsStream {
  std::string name;
  std::string subjects;
};

Result<void> ensure_on_nats(NatsLink& link, const NatsStream& stream, const StreamSpec& spec);
Result<BrokerFacts> inspect_nats(NatsLink& link, const std::string& stream);

/// Of this stream; none: it has no limit of its own, or cannot be asked.
std::optional<std::int64_t> max_message_bytes(NatsLink& link, const std::string& stream);

}  // namespace sluice::broker
