// The routes, by what they are about. Each takes its desk, which outlives the server.
#pragma once

#include <vector>

#include "http/desk.hpp"
#include "http/router.hpp"

namespace sluice::http {

std::vector<Route> event_routes(Desk& desk);
std::vector<Route> dead_letter_routes(Desk& desk);
std::vector<Route> operation_routes(Desk& desk);
std::vector<Route> generation_routes(Desk& desk);
std::vector<Route> sink_routes(Desk& desk);
std::vector<Route> system_routes(Desk& desk);  ///< me, overview, status, doctor, workers, storage, audit …
std::vector<Route> probe_routes(Desk& desk);   ///< health, metrics, openapi.json

}  // namespace sluice::http
