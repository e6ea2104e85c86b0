// The events of a build as an AsyncAPI 3.0 document, for catalogues and generators.
#pragma once

#include <string>

#include "ops/contracts.hpp"

namespace sluice::ops {

struct CatalogueInfo {
  std::string title = "Events";
  std::string version = "1.0.0";  ///< of the catalogue
};

/// A channel per event type, a message per version, each schema as it was written.
std::string asyncapi(const ContractSet& contracts, const CatalogueInfo& info);

}  // namespace sluice::ops
