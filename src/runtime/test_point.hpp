// TestPoint: places where a test may want to interfere. Empty in production.
#pragma once

#include <functional>
#include <string_view>

namespace sluice::runtime {

/// Called with `claimed`, `before_settle` and `settled`, on the worker's thread.
using TestPoint = std::function<void(std::string_view place)>;

}  // namespace sluice::runtime
