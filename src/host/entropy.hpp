// What comes from the machine that is neither a store nor the network: the time and random bytes. Injected, so that a
// test decides both.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include <sluice/time.hpp>

namespace sluice::host {

/// The system's wall clock. In a daemon time comes from the store where others are told of it (signatures, waits, the
/// state of a circuit): this machine's clock may be wrong.
Timestamp wall_clock();

/// Ten bytes that nobody can guess, as an id takes them. A process that forks does not draw the same ones twice.
std::array<std::uint8_t, 10> random_bytes();
/// The same for a name that only has to be nobody else's.
std::uint32_t random_number();
/// In [0, 1), for jitter: quick, and no secret.
double uniform01();
/// All 64 bits, for the ids of spans: quick, and no secret.
std::uint64_t quick_number();

struct Entropy {
  std::function<Timestamp()> clock;
  std::function<std::array<std::uint8_t, 10>()> random;

  /// wall_clock() and random_bytes().
  static Entropy system();
};

}  // namespace sluice::host
