// From what the configuration declares to sinks that deliver.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <sluice/result.hpp>
#include <sluice/tracer.hpp>
#include "config/config.hpp"
#include "host/entropy.hpp"
#include "sink/sink.hpp"
#include "sink/switched_sink.hpp"
#include "telemetry/log.hpp"

namespace sluice::sink {

using Sinks = std::map<std::string, std::shared_ptr<Sink>>;

/// Every declared sink by its name, and `log`, which is there unless another has taken its name. `clock` is the store's
/// time. An error means that a secret is not in the
/// environment, or that a broker's address cannot be.
Result<Sinks> open_sinks(const config::Config& config, const telemetry::Logger& logger,
                         const std::function<Timestamp()>& clock = host::wall_clock, Tracer* tracer = nullptr);

/// Delivers this one event to the sink of that name, from here: no daemon and no store take part. not_found when the
/// configuration declares no such sink.
Result<ProbeReport> probe_declared(const config::Config& config, const telemetry::Logger& logger,
                                   const std::string& name, const EventEnvelope& event);

}  // namespace sluice::sink
