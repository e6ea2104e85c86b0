// The request target taken apart: path and query, decoded once. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include "http/message.hpp"

namespace sluice::http {

struct Target {
  std::string path;  ///< begins with `/`; no `.`, `..` or empty segment but a last one
  std::map<std::string, std::string, std::less<>> query;
};

/// Origin form only. Refused: escapes that are no UTF-8 or decode to a control character, a slash or a backslash in
/// the path; `.` and `..`; a parameter that is given twice.
Result<Target> parse_target(std::string_view text);

/// What is left of `path` behind the prefix (`/ops/sluice`, or empty); none when it is not below it.
std::optional<std::string> below(std::string_view prefix, std::string_view path);

// Which code answers which path, and what a caller must be allowed to.
//
// Thread-safety: immutable once the server runs.

/// Ascending: each may do what those before it may.
enum class Role {
  anyone,     ///< no token is asked for: health, hooks (which are signed), the console's files
  viewer,     ///< looks
  operator_,  ///< publishes, works, replays, discards
  admin,      ///< generations, sinks
};
std::string_view name(Role role);
/// viewer, operator or admin.
std::optional<Role> role_of(std::string_view text);

/// Who is asking.
struct Caller {
  Role role = Role::anyone;
  std::string name;       ///< of the token, or the daemon's own user where no token is asked for
  bool by_token = false;  ///< a token was asked for, and given
};

struct Call {
  Request request;
  Caller caller;
  std::map<std::string, std::string, std::less<>> path;  ///< the values of `{name}` in the pattern
};

/// May block on the store: it is called on a thread of its own pool.
using Answer = std::function<Response(const Call&)>;
/// Answers later, from whichever thread; must not block.
using AnswerLater = std::function<void(Call, Respond)>;

struct Route {
  std::string method;   ///< GET also answers HEAD
  std::string pattern;  ///< `/v1/events/{id}`; a last segment `{rest...}` takes all that is left
  Role role = Role::admin;
  std::size_t body_limit = 0;  ///< bytes; 0: it takes no body
  Answer answer;               ///< exactly one of the two is set
  AnswerLater later;
};

class Router {
 public:
  void add(Route route);
  void add(std::vector<Route> routes);

  struct Match {
    const Route* route = nullptr;  ///< none: see `allowed`
    std::map<std::string, std::string, std::less<>> path;
    std::vector<std::string> allowed;  ///< methods of the path; empty: there is no such path
  };
  [[nodiscard]] Match find(std::string_view method, std::string_view path) const;
  [[nodiscard]] const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

}  // namespace sluice::http
