#include "host/entropy.hpp"

#include <sys/random.h>

#include <cassert>
#include <chrono>
#include <random>

namespace sluice::host {
namespace {

// The kernel gives up to 256 bytes whole and cannot fail once the machine has started.
template <class Value>
Value drawn() {
  Value value{};
  [[maybe_unused]] const auto got = ::getrandom(&value, sizeof value, 0);
  assert(got == static_cast<ssize_t>(sizeof value));
  return value;
}

std::mt19937_64& quick_numbers() {
  thread_local std::mt19937_64 numbers{drawn<std::uint64_t>()};
  return numbers;
}

}  // namespace

Timestamp wall_clock() { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); }

std::array<std::uint8_t, 10> random_bytes() { return drawn<std::array<std::uint8_t, 10>>(); }

std::uint32_t random_number() { return drawn<std::uint32_t>(); }

double uniform01() { return std::uniform_real_distribution<double>{0.0, 1.0}(quick_numbers()); }

std::uint64_t quick_number() { return quick_numbers()(); }

Entropy Entropy::system() { return {wall_clock, random_bytes}; }

}  // namespace sluice::host
