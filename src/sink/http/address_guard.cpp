#include "sink/http/address_guard.hpp"

#include <algorithm>

#include "net/address_kind.hpp"

namespace sluice::sink {

std::optional<std::string> AddressGuard::refusal(const net::IpAddress& address) const {
  const net::AddressKind kind = net::kind_of(address);
  if (kind == net::AddressKind::global) return std::nullopt;
  if (std::any_of(allowed_.begin(), allowed_.end(), [&](const auto& network) { return network.contains(address); })) {
    return std::nullopt;
  }
  const std::string text = address.to_string();
  return text + " is a " + std::string{name(kind)} + " address; if it is meant, add it to the sink: allow = [\"" +
         text + "\"]";
}

}  // namespace sluice::sink
