// What opening a publisher or a listener takes: a store from its address, and environment and log of the process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sluice/listener.hpp>
#include <sluice/result.hpp>
#include "config/store_url.hpp"
#include "store/store.hpp"
#include "telemetry/log.hpp"

namespace sluice::library {

// From a store's address to a store.

struct OpenedStore {
  config::StoreUrl url;
  std::unique_ptr<store::Store> store;
};

/// An embedded file is made where it is missing; a PostgreSQL schema must be up to date.
Result<OpenedStore> open_store(const std::string& address, int connections);

/// What was asked for, else the store's newest live one.
Result<Generation> resolve_generation(std::optional<Generation> wanted, store::Administering& store);

// What the library takes from the process around it: environment and log.

struct EnvironmentChoice {
  std::string store;
  std::optional<std::int64_t> generation;
};
/// SLUICE_STORE or DATABASE_URL; SLUICE_GENERATION or SPECTRAL_GENERATION.
Result<EnvironmentChoice> choice_from_environment();
/// SLUICE_BROKER and what begins with it, as the daemon reads them.
Result<BrokerAddress> broker_from_environment();

struct LogSource {
  std::string service;
  std::string environment;
  std::function<void(std::string_view line)> write;
};
telemetry::Logger make_logger(const LogSource& source, std::int64_t generation);

}  // namespace sluice::library
