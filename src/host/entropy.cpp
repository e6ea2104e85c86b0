#include "host/entropy.hpp"

#include <chrono>
#include <random>

namespace sluice::host {

Timestamp wall_clock() { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); }

Entropy Entropy::system() {
  return {
      wall_clock,
      [] {
        thread_local std::random_device device;
        std::array<std::uint8_t, 10> bytes{};
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(device());
        return bytes;
      },
  };
}

}  // namespace sluice::host
