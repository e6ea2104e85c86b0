// From what the configuration declares to sinks that deliver.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <sluice/result.hpp>
#include "config/config.hpp"
#include "sink/sink.hpp"
#include "telemetry/log.hpp"

namespace sluice::sink {

using Sinks = std::map<std::string, std::shared_ptr<Sink>>;

/// Every declared sink by its name, and `log`, which is there unless another has taken its name. An error means that a
/// secret is not in the environment.
Result<Sinks> open_sinks(const config::Config& config, const telemetry::Logger& logger);

}  // namespace sluice::sink
