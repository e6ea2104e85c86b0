// From a store's address to a store.
#pragma once

#include <memory>
#include <string>

#include "config/store_url.hpp"
#include "store/store.hpp"

namespace sluice::library {

struct OpenedStore {
  config::StoreUrl url;
  std::unique_ptr<store::Store> store;
};

/// An embedded file is made where it is missing; a PostgreSQL schema must be up to date.
Result<OpenedStore> open_store(const std::string& address, int connections);

/// What was asked for, else the store's newest live one.
Result<Generation> resolve_generation(std::optional<Generation> wanted, store::Administering& store);

}  // namespace sluice::library
