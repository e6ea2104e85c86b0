// Who wants to know that an event has failed for good.
#pragma once

#include <functional>

#include "core/alert.hpp"

namespace sluice::runtime {

/// Called on the delivering threads, after the failure is settled: it must not block. Empty: nobody.
using FailureListener = std::function<void(FailureNotice)>;

}  // namespace sluice::runtime
