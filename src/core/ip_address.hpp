// Internet addresses and networks as values, and what an address is for. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

/// 16 bytes either way: an IPv4 address stands in the last four, behind ::ffff:0:0.
class IpAddress {
 public:
  /// `192.0.2.1`, `2001:db8::1`, `::ffff:192.0.2.1`; no brackets, no zone.
  static std::optional<IpAddress> parse(std::string_view text);
  static IpAddress v4(std::span<const std::uint8_t, 4> bytes);
  static IpAddress v6(std::span<const std::uint8_t, 16> bytes);

  /// Also for an IPv4 address that came as an IPv6 one (`::ffff:10.0.0.1`): it is the same host.
  [[nodiscard]] bool is_v4() const;
  [[nodiscard]] const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }
  [[nodiscard]] std::string to_string() const;
  bool operator==(const IpAddress&) const = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
};

/// Every address that begins with the same bits.
class Network {
 public:
  /// `10.0.0.0/8`, `fd00::/8`, or one address. Bits beyond the prefix must be zero.
  static std::optional<Network> parse(std::string_view text);

  [[nodiscard]] bool contains(const IpAddress& address) const;

 private:
  IpAddress first_;
  unsigned bits_ = 128;  // of the 16 bytes
};

/// What a server may be made to connect to by a URL that somebody else wrote depends on it.
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

}  // namespace sluice
