// Application: from a request to its answer, apart from any server. Checks who calls and how, finds the route, runs
// it, and dresses the answer: ETag, security headers, HEAD.
//
// Thread-safety: handle() and admit() may be called from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "http/access.hpp"
#include "http/message.hpp"
#include "http/router.hpp"

namespace sluice::http {

/// Runs something that may block, elsewhere; false: too much is waiting already.
using RunElsewhere = std::function<bool(std::function<void()>)>;

/// Told of each answer of a route, for metrics.
struct Served {
  std::string_view method;
  std::string_view pattern;
  int status = 0;
  double seconds = 0;
};
using OnServed = std::function<void(const Served&)>;

struct ApplicationOptions {
  std::string prefix;  ///< `/ops/sluice`, or empty
  RunElsewhere elsewhere;
  OnServed on_served;
  std::function<double()> seconds;  ///< a clock that never goes back; none: durations are zero
};

class Application {
 public:
  Application(Router router, Access access, ApplicationOptions options);

  /// What to do with a request whose head has been read: the answer at once, or how much body it may have, and who asks
  /// for which route.
  struct Admission {
    std::optional<Response> refusal;
    std::size_t body_limit = 0;
    Router::Match match;
    Caller caller;
  };
  /// `target` is the request target as it came; the request's path and query are filled in.
  [[nodiscard]] Admission admit(Request& request, std::string_view target) const;

  /// Answers a request that was admitted so, exactly once.
  void handle(Request request, Admission admission, Respond respond) const;

  [[nodiscard]] const Router& router() const { return router_; }

 private:
  /// Fills in the caller where nothing is refused.
  [[nodiscard]] std::optional<Response> refuse(const Request& request, Admission& admission) const;
  [[nodiscard]] Response dress(Response response, const Request& request) const;

  Router router_;
  Access access_;
  ApplicationOptions options_;
};

}  // namespace sluice::http
