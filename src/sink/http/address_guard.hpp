// Which addresses a delivery may connect to: hosts on the Internet, and what an operator has allowed. Checked for each
// connection, with the address that it is about to go to, so that no name can change its mind in between.
//
// Thread-safety: immutable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "net/ip_address.hpp"

namespace sluice::sink {

class AddressGuard {
 public:
  AddressGuard() = default;
  explicit AddressGuard(std::vector<net::Network> allowed) : allowed_(std::move(allowed)) {}

  /// None: it may. Else why not, and how to allow it.
  [[nodiscard]] std::optional<std::string> refusal(const net::IpAddress& address) const;

 private:
  std::vector<net::Network> allowed_;
};

}  // namespace sluice::sink
