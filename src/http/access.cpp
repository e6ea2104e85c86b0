#include "http/access.hpp"

#include <algorithm>

#include "core/words.hpp"

namespace sluice::http {
namespace {

bool is_port(std::string_view text) {
  return text.size() <= 5 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// `[::1]:80` → `::1`; `host:80` → `host`; empty when there is more to it than a host and a port.
std::string host_of(std::string_view authority) {
  const bool bracketed = authority.starts_with('[');
  const std::size_t end = bracketed ? authority.find(']') : authority.find(':');
  if (bracketed && end == std::string_view::npos) return {};
  const std::string_view rest = authority.substr(std::min(end, authority.size())).substr(bracketed ? 1 : 0);
  if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return {};
  return lower_case(bracketed ? authority.substr(1, end - 1) : authority.substr(0, end));
}

}  // namespace

bool is_loopback(std::string_view host) {
  // A name may begin with 127. and point anywhere.
  const bool digits = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || host == "::1" || (digits && host.starts_with("127."));
}

Result<void> check_rules(const AccessRules& rules) {
  if (rules.loopback || !rules.tokens.empty()) return {};
  Error error = invalid("http.listen", "an address that other machines can reach needs a token");
  error.hint = "add one to the configuration file, [tokens.alice] with role and token_sha256, or listen on 127.0.0.1";
  return error;
}

bool Access::knows_host(const Request& request) const {
  const auto given = request.header("host");
  if (!given || given->empty()) return false;
  const std::string host = host_of(*given);
  if (host.empty()) return false;
  if (lists(*given)) return true;
  if (rules_.loopback) return is_loopback(host);
  return rules_.hosts.empty();
}

bool Access::lists(std::string_view authority) const {
  const std::string host = host_of(authority);
  return !host.empty() && std::any_of(rules_.hosts.begin(), rules_.hosts.end(),
                                      [&](const std::string& name) { return lower_case(name) == host; });
}

bool Access::same_origin(const Request& request) const {
  const auto origin = request.header("origin");
  if (!origin) return true;
  const std::size_t scheme = origin->find("://");
  const auto host = request.header("host");
  if (scheme == std::string_view::npos || !host) return false;
  const std::string_view authority = origin->substr(scheme + 3);
  return lower_case(authority) == lower_case(*host) || lists(authority);
}

std::optional<Caller> Access::caller(const Request& request) const {
  const Role most = rules_.read_only ? Role::viewer : Role::admin;
  if (rules_.tokens.empty()) return Caller{most, rules_.own_name};
  constexpr std::string_view kScheme = "bearer ";
  const auto given = request.header("authorization");
  if (!given || given->size() <= kScheme.size() || lower_case(given->substr(0, kScheme.size())) != kScheme) {
    return std::nullopt;
  }
  const crypto::Sha256 digest = crypto::sha256(given->substr(kScheme.size()));
  std::optional<Caller> found;
  // All of them, always: which one it was takes no longer or shorter to find.
  for (const Token& token : rules_.tokens) {
    if (crypto::equal(token.digest, digest)) found = Caller{std::min(token.role, most), token.name, true};
  }
  return found;
}

}  // namespace sluice::http
