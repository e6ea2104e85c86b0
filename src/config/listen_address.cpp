#include "config/listen_address.hpp"

#include <algorithm>
#include <charconv>

namespace sluice::config {
namespace {

constexpr int kLastPort = 65535;

std::optional<int> parse_port(std::string_view text) {
  int port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, port);
  if (problem != std::errc{} || stop != end || port < 0 || port > kLastPort) return std::nullopt;
  return port;
}

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

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

}  // namespace sluice::config
