// The system's wall clock, for a sink that has no store beside it. In a daemon time comes from the store: its machine's
// clock may be wrong, and what a sink tells others (signatures, waits, the state of its circuit) must not be.
#pragma once

#include <sluice/time.hpp>

namespace sluice::sink {

Timestamp wall_clock();

}  // namespace sluice::sink
