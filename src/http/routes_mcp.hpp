// POST /mcp: the tools of `sluice mcp` over HTTP, per caller.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/redact.hpp"
#include "http/router.hpp"
#include "http/routes.hpp"
#include "mcp/tool.hpp"
#include "mcp/toolbox.hpp"

namespace sluice::http {

struct McpOptions {
  mcp::Limits limits;  ///< of each caller, anew every `refill`
  Duration refill = std::chrono::hours{1};
  RedactionPolicy redaction;
};

/// Thread-safety: any thread; one call of a caller at a time.
class McpEndpoint {
 public:
  McpEndpoint(Context& context, McpOptions options) : context_(context), options_(std::move(options)) {}

  Response answer(const Call& call);

  /// Every caller begins anew.
  void configure(McpOptions options);

 private:
  struct Seat {
    explicit Seat(mcp::Context at) : context(std::move(at)), tools(context) {}
    std::mutex mutex;
    mcp::Context context;
    mcp::Toolbox tools;
    Timestamp since{};
  };
  std::shared_ptr<Seat> seat_of(const Caller& caller);

  Context& context_;
  McpOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Seat>, std::less<>> seats_;  // by the caller's name and role
};

std::vector<Route> mcp_routes(McpEndpoint& endpoint);

}  // namespace sluice::http
