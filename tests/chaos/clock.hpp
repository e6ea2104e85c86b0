// A process whose clock jumps: the system clock is off by as many seconds as a file says, from one moment to the next.
// The monotonic clock goes on as always.
#pragma once

#include <string>

namespace sluice::chaos {

/// The file holds one 64-bit number; it may change at any time.
void take_clock_from(const std::string& path);

}  // namespace sluice::chaos
