#include "config/addresses.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

#include "core/characters.hpp"
#include "core/words.hpp"

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

bool is_host_and_port(std::string_view host) {
  const std::size_t bracket = host.find(']');
  const std::size_t colon = host.find(':', host.starts_with('[') && bracket != std::string_view::npos ? bracket : 0);
  const std::string_view name = host.substr(0, colon);
  return !name.empty() && (colon == std::string_view::npos || is_digits(host.substr(colon + 1)));
}

std::optional<Address> take_apart(std::string_view text) {
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

Error refused_address(std::string_view origin, std::string_view key, std::string_view expected) {
  Error error =
      invalid(std::string{key}, std::string{origin} + ": " + std::string{key} + " is not " + std::string{expected});
  error.hint = "the value is not repeated here, because it may be a secret; `none` turns it off";
  return error;
}

}  // namespace

Result<SentryDsn> parse_sentry_dsn(std::string_view text, std::string_view origin) {
  const auto wrong = [&] {
    return refused_address(origin, "alerts.sentry_dsn", "a Sentry DSN; write https://PUBLIC_KEY@HOST/PROJECT");
  };
  const auto address = take_apart(text);
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

bool is_http_url(std::string_view text) { return take_apart(text).has_value(); }

Result<void> check_webhook_url(std::string_view text, std::string_view origin) {
  if (is_http_url(text)) return {};
  return refused_address(origin, "alerts.webhook_url", "a URL; write https://HOST/PATH");
}

Result<void> check_bearer_token(std::string_view text, std::string_view origin) {
  if (!text.empty() && is_visible(text)) return {};
  return refused_address(origin, "alerts.webhook_token", "a token: it has white space or characters beyond ASCII");
}

namespace {

constexpr int kLastPort = 65535;

std::optional<int> parse_port(std::string_view text) {
  int port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, port);
  if (problem != std::errc{} || stop != end || port < 0 || port > kLastPort) return std::nullopt;
  return port;
}

bool is_host_character(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_'; }

bool is_host(std::string_view host) {
  return !host.empty() && std::all_of(host.begin(), host.end(), is_host_character);
}

bool is_ipv6(std::string_view host) {
  return host.find(':') != std::string_view::npos &&
         host.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

bool is_path_character(char c) { return is_host_character(c) || c == '/' || c == '~'; }

}  // namespace

std::string ListenAddress::display() const {
  const bool ipv6 = host.find(':') != std::string::npos;
  return (ipv6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

std::optional<ListenAddress> parse_listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = parse_port(text.substr(colon + 1));
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!port || !(bracketed ? is_ipv6(host) : is_host(host))) return std::nullopt;
  return ListenAddress{std::string{host}, *port};
}

std::optional<std::string> parse_prefix(std::string_view text) {
  if (text.empty() || text == "/") return "";
  const bool ok = text.starts_with('/') && !text.ends_with('/') && text.find("//") == std::string_view::npos &&
                  text.find("/.") == std::string_view::npos && std::all_of(text.begin(), text.end(), is_path_character);
  return ok ? std::optional{std::string{text}} : std::nullopt;
}

namespace {

bool is_token_character(char c) {
  return is_letter(c) || is_digit(c) || std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}

}  // namespace

bool is_header_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}

bool is_header_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= ' ' && c < '\x7F') || c == '\t'; });
}

}  // namespace sluice::config
