// The console's files, from the table in the binary.
#pragma once

#include <string>
#include <vector>

#include "http/router.hpp"

namespace sluice::http {

/// `prefix` as in ApplicationOptions. Paths that name no file get the start page: the console finds its own way.
std::vector<Route> console_routes(const std::string& prefix);

}  // namespace sluice::http
