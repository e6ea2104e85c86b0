#include "http/api.hpp"

#include "http/routes.hpp"
#include "http/routes_publish.hpp"

namespace sluice::http {

Router api_router(const ApiParts& parts, const ApiOptions& options) {
  Router router;
  router.add(publish_routes(parts.publishing));
  router.add(event_routes(parts.context));
  router.add(dead_letter_routes(parts.context));
  router.add(operation_routes(parts.context));
  router.add(generation_routes(parts.context));
  router.add(filter_routes(parts.context));
  router.add(sink_routes(parts.context));
  router.add(system_routes(parts.context));
  router.add(probe_routes(parts.context));
  router.add(stream_routes(parts.streams));
  router.add(mcp_routes(parts.mcp));
  router.add(claim_routes(parts.claims));
  router.add(hook_routes(parts.publishing, options.hooks, options.on_hook));
  router.add(console_routes(options.prefix));
  return router;
}

}  // namespace sluice::http
