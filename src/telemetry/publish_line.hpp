// The one line that a publish leaves in the log, whoever publishes.
#pragma once

#include <sluice/envelope.hpp>
#include "telemetry/log.hpp"

namespace sluice::telemetry {

/// `fresh`: false when the same id had been published before.
void log_published(const Logger& logger, const EventEnvelope& event, bool fresh);

}  // namespace sluice::telemetry
