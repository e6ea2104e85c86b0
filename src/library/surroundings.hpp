// What the library takes from the process around it: environment, clock, randomness, host.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include "telemetry/log.hpp"

namespace sluice::library {

struct EnvironmentChoice {
  std::string store;
  std::optional<std::int64_t> generation;
  std::vector<std::string> broker;  ///< URLs; empty: none
};
/// SLUICE_STORE or DATABASE_URL; SLUICE_GENERATION or SPECTRAL_GENERATION; SLUICE_BROKER, URLs between commas.
Result<EnvironmentChoice> choice_from_environment();

Timestamp system_now();
double uniform01();
std::array<std::uint8_t, 10> random_bytes();
/// The name under which this process claims.
std::string fresh_identity();
/// True only when no process of this machine's process table has the id, or when it has ended already.
bool process_is_gone(std::int64_t pid);

struct LogSource {
  std::string service;
  std::string environment;
  std::function<void(std::string_view line)> write;
};
telemetry::Logger make_logger(const LogSource& source, std::int64_t generation);

}  // namespace sluice::library
