// Where alerts go: the addresses as people write them, checked. No error repeats one, because what is
// secret in an address cannot be told from what is not.
#pragma once

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

}  // namespace sluice::config
