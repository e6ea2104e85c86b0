// What the use cases need from outside that is not a store: a clock and random bytes. Injected, so
// that a test decides both.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include <sluice/time.hpp>

namespace sluice::ops {

struct Entropy {
  std::function<Timestamp()> clock;
  std::function<std::array<std::uint8_t, 10>()> random;

  /// The system's clock and random device.
  static Entropy system();
};

}  // namespace sluice::ops
