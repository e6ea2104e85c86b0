#include "config/alert_address.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace sluice::config {
namespace {

struct Address {
  std::string_view scheme;
  std::string_view user;  ///< `key` or `user:password`; empty: none
  std::string_view host;  ///< with the port
  std::string_view path;  ///< from the first slash to the query; may be empty
};

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7F'; });
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_host_and_port(std::string_view host) {
  const std::size_t bracket = host.find(']');
  const std::size_t colon = host.find(':', host.starts_with('[') && bracket != std::string_view::npos ? bracket : 0);
  const std::string_view name = host.substr(0, colon);
  return !name.empty() && (colon == std::string_view::npos || is_digits(host.substr(colon + 1)));
}

std::optional<Address> split(std::string_view text) {
  Address address;
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos || !is_visible(text)) return std::nullopt;
  address.scheme = text.substr(0, scheme);
  if (address.scheme != "http" && address.scheme != "https") return std::nullopt;
  text.remove_prefix(scheme + 3);
  text = text.substr(0, text.find_first_of("?#"));
  const std::size_t slash = std::min(text.find('/'), text.size());
  address.path = text.substr(slash);
  address.host = text.substr(0, slash);
  if (const std::size_t at = address.host.rfind('@'); at != std::string_view::npos) {
    address.user = address.host.substr(0, at);
    address.host.remove_prefix(at + 1);
  }
  if (!is_host_and_port(address.host)) return std::nullopt;
  return address;
}

Error refused(std::string_view origin, std::string_view key, std::string_view expected) {
  Error error =
      invalid(std::string{key}, std::string{origin} + ": " + std::string{key} + " is not " + std::string{expected});
  error.hint = "the value is not repeated here, because it may be a secret; `none` turns it off";
  return error;
}

}  // namespace

Result<SentryDsn> parse_sentry_dsn(std::string_view text, std::string_view origin) {
  const auto wrong = [&] {
    return refused(origin, "alerts.sentry_dsn", "a Sentry DSN; write https://PUBLIC_KEY@HOST/PROJECT");
  };
  const auto address = split(text);
  if (!address) return wrong();
  // Older DSNs have a secret after the key, which is not used any more.
  const std::string_view key = address->user.substr(0, address->user.find(':'));
  const std::size_t slash = address->path.rfind('/');
  if (key.empty() || slash == std::string_view::npos || !is_digits(address->path.substr(slash + 1))) return wrong();
  SentryDsn dsn;
  dsn.public_key = key;
  dsn.endpoint.append(address->scheme).append("://").append(address->host).append(address->path.substr(0, slash));
  dsn.endpoint.append("/api").append(address->path.substr(slash)).append("/envelope/");
  return dsn;
}

bool is_http_url(std::string_view text) { return split(text).has_value(); }

Result<void> check_webhook_url(std::string_view text, std::string_view origin) {
  if (is_http_url(text)) return {};
  return refused(origin, "alerts.webhook_url", "a URL; write https://HOST/PATH");
}

Result<void> check_bearer_token(std::string_view text, std::string_view origin) {
  if (!text.empty() && is_visible(text)) return {};
  return refused(origin, "alerts.webhook_token", "a token: it has white space or characters beyond ASCII");
}

}  // namespace sluice::config
