#include "net/address_kind.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

namespace sluice::net {
namespace {

struct Range {
  Network network;
  AddressKind kind;
};

Range range(std::string_view text, AddressKind kind) {
  const auto network = Network::parse(text);
  assert(network);
  return {*network, kind};
}

// The IANA special-purpose registries; the first that contains an address decides.
const std::vector<Range>& ranges() {
  using enum AddressKind;
  static const std::vector<Range> all{range("0.0.0.0/32", unspecified),
                                      range("0.0.0.0/8", reserved),
                                      range("10.0.0.0/8", private_use),
                                      range("100.64.0.0/10", shared),
                                      range("127.0.0.0/8", loopback),
                                      range("169.254.0.0/16", link_local),
                                      range("172.16.0.0/12", private_use),
                                      range("192.0.0.0/24", reserved),
                                      range("192.0.2.0/24", reserved),
                                      range("192.88.99.0/24", reserved),
                                      range("192.168.0.0/16", private_use),
                                      range("198.18.0.0/15", reserved),
                                      range("198.51.100.0/24", reserved),
                                      range("203.0.113.0/24", reserved),
                                      range("224.0.0.0/4", multicast),
                                      range("240.0.0.0/4", reserved),
                                      range("0.0.0.0/0", global),
                                      range("::/128", unspecified),
                                      range("::1/128", loopback),
                                      range("100::/64", reserved),
                                      range("2001::/23", reserved),
                                      range("2001:db8::/32", reserved),
                                      range("3fff::/20", reserved),
                                      range("5f00::/16", reserved),
                                      range("fc00::/7", private_use),
                                      range("fe80::/10", link_local),
                                      range("fec0::/10", private_use),
                                      range("ff00::/8", multicast),
                                      range("2000::/3", global)};
  return all;
}

IpAddress ipv4_at(const IpAddress& address, std::size_t offset, std::uint8_t flip = 0) {
  std::array<std::uint8_t, 4> four{};
  for (std::size_t i = 0; i < four.size(); ++i) {
    four[i] = static_cast<std::uint8_t>(address.bytes()[offset + i] ^ flip);
  }
  return IpAddress::v4(four);
}

// The IPv4 address that a translator or a tunnel would go on to.
std::optional<IpAddress> embedded(const IpAddress& address) {
  static const Network nat64 = *Network::parse("64:ff9b::/96");
  static const Network local_nat64 = *Network::parse("64:ff9b:1::/48");
  static const Network six_to_four = *Network::parse("2002::/16");
  static const Network teredo = *Network::parse("2001::/32");
  static const Network compatible = *Network::parse("::/96");
  static const Network translated = *Network::parse("::ffff:0:0:0/96");
  if (nat64.contains(address) || local_nat64.contains(address) || translated.contains(address)) {
    return ipv4_at(address, 12);
  }
  if (six_to_four.contains(address)) return ipv4_at(address, 2);
  if (teredo.contains(address)) return ipv4_at(address, 12, 0xFF);
  const bool plain = address == *IpAddress::parse("::") || address == *IpAddress::parse("::1");
  if (compatible.contains(address) && !plain) return ipv4_at(address, 12);
  return std::nullopt;
}

}  // namespace

std::string_view name(AddressKind kind) {
  switch (kind) {
    case AddressKind::global:
      return "global";
    case AddressKind::unspecified:
      return "unspecified";
    case AddressKind::loopback:
      return "loopback";
    case AddressKind::private_use:
      return "private";
    case AddressKind::shared:
      return "shared";
    case AddressKind::link_local:
      return "link-local";
    case AddressKind::multicast:
      return "multicast";
    case AddressKind::reserved:
      return "reserved";
  }
  return "reserved";
}

AddressKind kind_of(const IpAddress& address) {
  if (const auto inner = embedded(address)) return kind_of(*inner);
  const auto found = std::find_if(ranges().begin(), ranges().end(),
                                  [&address](const Range& candidate) { return candidate.network.contains(address); });
  // Whatever nobody has assigned yet is not a host that one could mean.
  return found == ranges().end() ? AddressKind::reserved : found->kind;
}

}  // namespace sluice::net
