// The time as the clock on the wall of this machine shows it.
#pragma once

#include <string>

#include <sluice/time.hpp>

namespace sluice::host {

/// `2026-04-25 03:43:02 CEST`, by the zone of this process (TZ, else that of the machine); empty where it is UTC then.
std::string local_time(Timestamp at);

}  // namespace sluice::host
