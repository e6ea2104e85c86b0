#include "http/router.hpp"

#include <algorithm>
#include <cassert>

#include "core/try.hpp"
#include "core/utf8.hpp"
#include "core/words.hpp"

namespace sluice::http {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

Error refused(std::string_view what, const std::string& why) { return invalid(std::string{what}, why); }

Result<std::string> decode_path(std::string_view raw) {
  if (!raw.starts_with('/')) return refused("path", "the request target must begin with /");
  std::string path;
  while (!raw.empty()) {
    raw.remove_prefix(1);
    const std::size_t slash = std::min(raw.find('/'), raw.size());
    const auto segment = percent_decoded(raw.substr(0, slash), BadEscape::refused);
    raw.remove_prefix(slash);
    if (!segment || !utf8::is_valid(*segment)) return refused("path", "the path has an escape that cannot be read");
    if (std::any_of(segment->begin(), segment->end(), is_control) ||
        segment->find_first_of("/\\") != std::string::npos) {
      return refused("path", "the path may not have control characters, or slashes as escapes");
    }
    const bool hole = segment->empty() && !raw.empty();
    if (hole || *segment == "." || *segment == "..") return refused("path", "the path has an empty or dotted segment");
    path += '/' + *segment;
  }
  return path;
}

// In a query a plus is a blank.
std::optional<std::string> form_decoded(std::string_view text) {
  std::string blanks{text};
  std::replace(blanks.begin(), blanks.end(), '+', ' ');
  return percent_decoded(blanks, BadEscape::refused);
}

Result<void> add_parameter(std::map<std::string, std::string, std::less<>>& query, std::string_view pair) {
  if (pair.empty()) return {};
  const std::size_t equals = pair.find('=');
  const auto name = form_decoded(pair.substr(0, equals));
  const auto value = form_decoded(equals == std::string_view::npos ? std::string_view{} : pair.substr(equals + 1));
  if (!name || !value || !utf8::is_valid(*name) || !utf8::is_valid(*value)) {
    return refused("query", "the query has an escape that cannot be read");
  }
  if (!query.emplace(*name, *value).second) return refused(*name, *name + " is given twice");
  return {};
}

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

Result<Target> parse_target(std::string_view text) {
  if (text.find('#') != std::string_view::npos) return refused("path", "a request target has no fragment");
  const std::size_t question = std::min(text.find('?'), text.size());
  SLUICE_TRY(auto path, decode_path(text.substr(0, question)));
  Target target{std::move(path), {}};
  std::string_view query = text.substr(std::min(question + 1, text.size()));
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    SLUICE_CHECK(add_parameter(target.query, query.substr(0, end)));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return target;
}

std::optional<std::string> below(std::string_view prefix, std::string_view path) {
  if (!path.starts_with(prefix)) return std::nullopt;
  const std::string_view rest = path.substr(prefix.size());
  if (rest.empty()) return "/";
  return rest.starts_with('/') ? std::optional{std::string{rest}} : std::nullopt;
}

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
