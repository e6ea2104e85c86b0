// Where the HTTP server listens, as people write it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::config {

struct ListenAddress {
  std::string host;  ///< a name or an address, IPv6 without its brackets
  int port = 0;      ///< 0: any free one

  /// `127.0.0.1:7311`, `[::1]:7311`.
  [[nodiscard]] std::string display() const;
  bool operator==(const ListenAddress&) const = default;
};

/// `HOST:PORT`; an IPv6 address in brackets.
std::optional<ListenAddress> parse_listen_address(std::string_view text);

/// `/ops/sluice`: visible ASCII that needs no escaping, without a slash at the end. `/` and nothing are the root,
/// which is the empty text.
std::optional<std::string> parse_prefix(std::string_view text);

}  // namespace sluice::config
