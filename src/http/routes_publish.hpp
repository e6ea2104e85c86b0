// POST /v1/events: one event or many, as envelope JSON or as CloudEvents in any of their three forms.
#pragma once

#include <cstddef>
#include <vector>

#include "http/publish_endpoint.hpp"
#include "http/router.hpp"

namespace sluice::http {

/// The most events in one request.
inline constexpr std::size_t kMostEvents = 1000;

/// The endpoint outlives the server.
std::vector<Route> publish_routes(PublishEndpoint& endpoint);

}  // namespace sluice::http
