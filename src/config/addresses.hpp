// Addresses and headers as people write them, checked: where alerts go, where the HTTP server listens, what a sink
// sends. No error repeats an address of alerts, because what is secret in one cannot be told from what is not.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <sluice/result.hpp>

namespace sluice::config {

/// The value that turns a receiver off.
inline constexpr std::string_view kNone = "none";

struct SentryDsn {
  std::string endpoint;    ///< `https://sentry.example.com/api/42/envelope/`
  std::string public_key;  ///< goes into the X-Sentry-Auth header
};

/// `https://PUBLIC_KEY@HOST/PROJECT`, with a path before the project where Sentry lives below one. `origin`
/// says where the text came from and is named in the error.
Result<SentryDsn> parse_sentry_dsn(std::string_view text, std::string_view origin);

/// An absolute http or https URL.
bool is_http_url(std::string_view text);

/// The same, for the key of alerts.
Result<void> check_webhook_url(std::string_view text, std::string_view origin);

/// Visible ASCII: it becomes part of a header line.
Result<void> check_bearer_token(std::string_view text, std::string_view origin);

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

/// A token of RFC 9110.
bool is_header_name(std::string_view text);
/// Visible ASCII, spaces and tabs inside: nothing that ends the line.
bool is_header_value(std::string_view text);

}  // namespace sluice::config
