// The routes, by what they are about. Each takes its context, which outlives the server.
#pragma once

#include <vector>

#include "http/context.hpp"
#include "http/router.hpp"

namespace sluice::http {

std::vector<Route> event_routes(Context& context);
std::vector<Route> dead_letter_routes(Context& context);
std::vector<Route> operation_routes(Context& context);
std::vector<Route> generation_routes(Context& context);
std::vector<Route> sink_routes(Context& context);
std::vector<Route> system_routes(Context& context);  ///< me, overview, status, doctor, workers, storage, audit …
std::vector<Route> probe_routes(Context& context);   ///< health, metrics, openapi.json

}  // namespace sluice::http
