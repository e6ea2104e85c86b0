#include "http/router.hpp"

#include <algorithm>
#include <cassert>

namespace sluice::http {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

std::string_view first_segment(std::string_view& rest) {
  assert(rest.starts_with('/'));
  rest.remove_prefix(1);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view segment = rest.substr(0, slash);
  rest.remove_prefix(slash);
  return segment;
}

std::optional<Values> match(std::string_view pattern, std::string_view path) {
  Values values;
  while (!pattern.empty() && !path.empty()) {
    std::string_view before = path;
    const std::string_view wanted = first_segment(pattern);
    const std::string_view found = first_segment(path);
    if (!wanted.starts_with('{')) {
      if (wanted != found) return std::nullopt;
      continue;
    }
    const std::string_view name = wanted.substr(1, wanted.size() - 2);
    if (name.ends_with("...")) {
      before.remove_prefix(1);
      values.emplace(name.substr(0, name.size() - 3), before);
      return values;
    }
    if (found.empty()) return std::nullopt;
    values.emplace(name, found);
  }
  return pattern.empty() && path.empty() ? std::optional{values} : std::nullopt;
}

bool answers(const Route& route, std::string_view method) {
  return route.method == method || (route.method == "GET" && method == "HEAD");
}

}  // namespace

std::string_view name(Role role) {
  switch (role) {
    case Role::anyone:
      return "anyone";
    case Role::viewer:
      return "viewer";
    case Role::operator_:
      return "operator";
    case Role::admin:
      return "admin";
  }
  return "unknown";
}

std::optional<Role> role_of(std::string_view text) {
  for (const Role role : {Role::viewer, Role::operator_, Role::admin}) {
    if (name(role) == text) return role;
  }
  return std::nullopt;
}

void Router::add(Route route) {
  assert((route.answer != nullptr) != (route.later != nullptr));
  routes_.push_back(std::move(route));
}

void Router::add(std::vector<Route> routes) {
  for (Route& route : routes) add(std::move(route));
}

Router::Match Router::find(std::string_view method, std::string_view path) const {
  Match result;
  if (!path.starts_with('/')) return result;
  for (const Route& route : routes_) {
    auto values = match(route.pattern, path);
    if (!values) continue;
    // It says of every path that there is nothing, so it knows nothing of methods either.
    const bool catch_all = route.pattern == "/{rest...}";
    if (catch_all && !result.allowed.empty()) continue;
    if (catch_all && !answers(route, method)) continue;
    if (answers(route, method)) {
      result.route = &route;
      result.path = *std::move(values);
      return result;
    }
    result.allowed.push_back(route.method);
  }
  return result;
}

}  // namespace sluice::http
