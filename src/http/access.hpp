// Who may call: tokens and their roles, by which names the server may be called, and from which pages. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/digest.hpp"
#include "http/message.hpp"
#include "http/router.hpp"

namespace sluice::http {

struct Token {
  std::string name;
  Role role = Role::viewer;
  crypto::Sha256 digest{};  ///< of the token; the token itself is not kept
};

struct AccessRules {
  std::vector<Token> tokens;       ///< empty: every caller is an admin, which is for loopback only
  std::string own_name;            ///< who a caller is where no token is asked for
  bool loopback = true;            ///< the server listens on a loopback address only
  std::vector<std::string> hosts;  ///< further names that a Host header may have, and an Origin
  bool read_only = false;          ///< nobody is more than a viewer
};

/// Refuses a server that others can reach and that asks for no token.
Result<void> check_rules(const AccessRules& rules);

class Access {
 public:
  explicit Access(AccessRules rules) : rules_(std::move(rules)) {}

  /// A page elsewhere may have a name point to this address, and a script in it may call by that name: only known
  /// names are answered. Where tokens are asked for and no names are given, any name will do.
  [[nodiscard]] bool knows_host(const Request& request) const;

  /// False: the request comes from a page of another origin. A page is ours by the name that the request calls, or by
  /// one of the further names: a proxy may call the server otherwise than the browser called the proxy.
  [[nodiscard]] bool same_origin(const Request& request) const;

  /// None: there is no such token. Compared by digest and in constant time.
  [[nodiscard]] std::optional<Caller> caller(const Request& request) const;

 private:
  [[nodiscard]] bool lists(std::string_view authority) const;

  AccessRules rules_;
};

/// `127.0.0.1`, `::1`, `localhost`: an address that only this machine reaches.
bool is_loopback(std::string_view host);

}  // namespace sluice::http
