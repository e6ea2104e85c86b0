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

struct Entropy {
  std::function<Timestamp()> clock;
  std::function<std::array<std::uint8_t, 10>()> random;

  /// The system's clock and random device.
  static Entropy system();
};

}  // namespace sluice::host
