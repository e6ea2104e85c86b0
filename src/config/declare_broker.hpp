// The keys of a sink on a message broker, and those it shares with other sinks.
#pragma once

#include "config/declared.hpp"
#include "config/table_reader.hpp"

namespace sluice::config {

/// `kind` has been read: nats or redis.
void read_broker(TableReader& reader, SecretReader& secrets, SinkConfig& sink);

void read_breaker(TableReader& reader, SinkConfig& sink);

}  // namespace sluice::config
