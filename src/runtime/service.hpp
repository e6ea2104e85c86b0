// A service: a round of work, again and again, resting in between and backing off on errors.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include <sluice/result.hpp>
#include "runtime/backoff.hpp"
#include "runtime/wake_signal.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

struct Service {
  std::string name;  ///< for the log: `worker`, `reaper`
  /// Does one bounded round and says how long to rest before the next; zero for not at all.
  std::function<Result<Duration>(const std::stop_token&)> round;
  /// Called once, after the last round.
  std::function<void()> finish;
  /// Called when a rest has passed and nobody had woken it; may be empty.
  std::function<void()> polled{};
};

struct ServiceEnvironment {
  WakeSignal& signal;  ///< cuts a rest short, but never a back-off
  telemetry::Logger logger;
  BackoffLimits backoff;
};

/// Returns when a stop is asked for; a round that has begun is finished first. A round that throws
/// counts as one that failed.
void run_service(const std::stop_token& stop, const Service& service, const ServiceEnvironment& environment);

/// An error as log fields: code, retry, field, hint and what was said.
void log_error(const telemetry::Logger& logger, std::string_view message, const Error& error);

}  // namespace sluice::runtime
