// What the library takes from the process around it: environment and log.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include "telemetry/log.hpp"

namespace sluice::library {

struct EnvironmentChoice {
  std::string store;
  std::optional<std::int64_t> generation;
  std::vector<std::string> broker;  ///< URLs; empty: none
};
/// SLUICE_STORE or DATABASE_URL; SLUICE_GENERATION or SPECTRAL_GENERATION; SLUICE_BROKER, URLs between commas.
Result<EnvironmentChoice> choice_from_environment();

struct LogSource {
  std::string service;
  std::string environment;
  std::function<void(std::string_view line)> write;
};
telemetry::Logger make_logger(const LogSource& source, std::int64_t generation);

}  // namespace sluice::library
