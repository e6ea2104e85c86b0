// The system's wall clock, for what is told to others: deferrals, signatures, statuses.
#pragma once

#include <sluice/time.hpp>

namespace sluice::sink {

Timestamp wall_clock();

}  // namespace sluice::sink
