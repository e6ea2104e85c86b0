// The JSON of an error, the same on every surface.
#pragma once

#include <string>

#include <sluice/result.hpp>

namespace sluice::ops {

/// `{"error":{"code":…,"message":…,"field":…,"hint":…,"retry":…}}`
std::string to_json(const Error& error);

}  // namespace sluice::ops
