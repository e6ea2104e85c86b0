#include "core/ip_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <string>
#include <vector>

namespace sluice {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
constexpr unsigned kMappedBits = 96;

std::uint8_t mask_of(unsigned bits, std::size_t byte) {
  const unsigned begin = static_cast<unsigned>(byte) * 8;
  if (bits >= begin + 8) return 0xFF;
  if (bits <= begin) return 0;
  return static_cast<std::uint8_t>(0xFFU << (8 - (bits - begin)));
}

std::optional<unsigned> parse_bits(std::string_view text, unsigned most) {
  unsigned bits = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, bits);
  if (problem != std::errc{} || stop != end || bits > most) return std::nullopt;
  return bits;
}

}  // namespace

IpAddress IpAddress::v4(std::span<const std::uint8_t, 4> bytes) {
  IpAddress address;
  std::copy(kMapped.begin(), kMapped.end(), address.bytes_.begin());
  std::copy(bytes.begin(), bytes.end(), address.bytes_.begin() + kMapped.size());
  return address;
}

IpAddress IpAddress::v6(std::span<const std::uint8_t, 16> bytes) {
  IpAddress address;
  std::copy(bytes.begin(), bytes.end(), address.bytes_.begin());
  return address;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  const std::string terminated{text};
  if (terminated.find('\0') != std::string::npos) return std::nullopt;
  std::array<std::uint8_t, 4> four{};
  if (::inet_pton(AF_INET, terminated.c_str(), four.data()) == 1) return v4(four);
  std::array<std::uint8_t, 16> sixteen{};
  if (::inet_pton(AF_INET6, terminated.c_str(), sixteen.data()) == 1) return v6(sixteen);
  return std::nullopt;
}

bool IpAddress::is_v4() const { return std::equal(kMapped.begin(), kMapped.end(), bytes_.begin()); }

std::string IpAddress::to_string() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (is_v4()) {
    ::inet_ntop(AF_INET, bytes_.data() + kMapped.size(), text.data(), text.size());
  } else {
    ::inet_ntop(AF_INET6, bytes_.data(), text.data(), text.size());
  }
  return text.data();
}

std::optional<Network> Network::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view first = text.substr(0, slash);
  const auto address = IpAddress::parse(first);
  if (!address) return std::nullopt;
  Network network;
  network.first_ = *address;
  if (slash == std::string_view::npos) return network;
  // A mapped address that is written with colons counts all of its bits.
  const bool short_form = first.find(':') == std::string_view::npos;
  const auto bits = parse_bits(text.substr(slash + 1), short_form ? 32 : 128);
  if (!bits) return std::nullopt;
  network.bits_ = short_form ? *bits + kMappedBits : *bits;
  for (std::size_t i = 0; i < address->bytes().size(); ++i) {
    if ((address->bytes()[i] & ~mask_of(network.bits_, i) & 0xFF) != 0) return std::nullopt;
  }
  return network;
}

bool Network::contains(const IpAddress& address) const {
  for (std::size_t i = 0; i < address.bytes().size(); ++i) {
    if (((address.bytes()[i] ^ first_.bytes()[i]) & mask_of(bits_, i)) != 0) return false;
  }
  return true;
}

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

}  // namespace sluice
