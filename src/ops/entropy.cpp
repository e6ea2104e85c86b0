#include "ops/entropy.hpp"

#include <random>

namespace sluice::ops {

Entropy Entropy::system() {
  return {
      [] { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); },
      [] {
        thread_local std::random_device device;
        std::array<std::uint8_t, 10> bytes{};
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(device());
        return bytes;
      },
  };
}

}  // namespace sluice::ops
