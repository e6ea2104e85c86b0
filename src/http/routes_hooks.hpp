// POST /hooks/{source}: the webhook inbox.
#pragma once

#include <vector>

#include "config/declared.hpp"
#include "http/router.hpp"
#include "http/routes_publish.hpp"

namespace sluice::http {

/// Told of each delivery: the hook's name, or `unknown`, and the status that it was answered with.
using OnHook = std::function<void(const std::string& source, int status)>;

/// The endpoint outlives the server. Nothing but a genuine delivery is stored, and it is stored before the answer.
std::vector<Route> hook_routes(PublishEndpoint& endpoint, std::vector<config::HookConfig> hooks, OnHook on_hook = {});

}  // namespace sluice::http
