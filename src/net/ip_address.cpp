#include "net/ip_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace sluice::net {
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

}  // namespace sluice::net
