// Everything that is served, in one router.
#pragma once

#include <string>
#include <vector>

#include "config/declared.hpp"
#include "http/event_stream.hpp"
#include "http/router.hpp"
#include "http/routes.hpp"
#include "http/routes_claims.hpp"
#include "http/routes_hooks.hpp"
#include "http/routes_mcp.hpp"
#include "http/routes_publish.hpp"

namespace sluice::http {

/// All of them outlive the router.
struct ApiParts {
  Context& context;
  PublishEndpoint& publishing;
  McpEndpoint& mcp;
  EventStream& streams;
  PullApi claims;
};

struct ApiOptions {
  std::vector<config::HookConfig> hooks;
  std::string prefix;  ///< as in ApplicationOptions
  OnHook on_hook;
};

Router api_router(const ApiParts& parts, const ApiOptions& options);

}  // namespace sluice::http
