// The console's files, from the table in the binary.
#pragma once

#include <string>
#include <vector>

#include "http/router.hpp"

namespace sluice::http {

/// `prefix` as in ApplicationOptions. The console's screens get the start page; every other path is not found.
std::vector<Route> console_routes(const std::string& prefix);

}  // namespace sluice::http
