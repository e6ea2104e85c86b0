// Internet addresses and networks as values. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice::net {

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

}  // namespace sluice::net
