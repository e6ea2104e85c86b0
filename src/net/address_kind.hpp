// What an address is for. Pure: what a server may be made to connect to by a URL that somebody else wrote depends on
// it.
#pragma once

#include <string_view>

#include "net/ip_address.hpp"

namespace sluice::net {

enum class AddressKind {
  global,  ///< a host on the Internet
  unspecified,
  loopback,
  private_use,  ///< RFC 1918, unique local, site local
  shared,       ///< carrier-grade NAT
  link_local,   ///< also where clouds keep their metadata services
  multicast,
  reserved,  ///< documentation, benchmarks, broadcast, protocol assignments
};
std::string_view name(AddressKind kind);

/// An IPv4 address inside an IPv6 one (mapped, compatible, 6to4, NAT64, Teredo) counts as that IPv4 address, because
/// it may end there.
AddressKind kind_of(const IpAddress& address);

}  // namespace sluice::net
