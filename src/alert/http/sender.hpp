// Who sends alerts, as receivers show it.
#pragma once

#include <string>

namespace sluice::alert {

struct Sender {
  std::string service;
  std::string environment;
  std::string version;  ///< of Sluice
};

}  // namespace sluice::alert
