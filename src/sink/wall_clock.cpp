#include "sink/wall_clock.hpp"

#include <chrono>

namespace sluice::sink {

Timestamp wall_clock() { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); }

}  // namespace sluice::sink
