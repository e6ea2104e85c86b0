#include "library/surroundings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "core/generation.hpp"
#include "runtime/identity.hpp"

namespace sluice::library {
namespace {

std::string variable(const char* first, const char* second) {
  for (const char* name : {first, second}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

std::mt19937_64& engine() {
  thread_local std::mt19937_64 numbers{(std::uint64_t{std::random_device{}()} << 32U) ^ std::random_device{}()};
  return numbers;
}

}  // namespace

Result<EnvironmentChoice> choice_from_environment() {
  EnvironmentChoice choice{variable("SLUICE_STORE", "DATABASE_URL"), std::nullopt};
  if (choice.store.empty()) {
    return invalid("SLUICE_STORE", "SLUICE_STORE is not set: it names the store, such as postgres://app@db/app");
  }
  const std::string generation = variable("SLUICE_GENERATION", "SPECTRAL_GENERATION");
  if (generation.empty()) return choice;
  const auto parsed = parse_generation(generation, "SLUICE_GENERATION");
  if (!parsed) return parsed.error();
  choice.generation = *parsed;
  return choice;
}

Timestamp system_now() { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); }

double uniform01() { return std::uniform_real_distribution<double>{0.0, 1.0}(engine()); }

std::array<std::uint8_t, 10> random_bytes() {
  std::array<std::uint8_t, 10> bytes{};
  std::uniform_int_distribution<unsigned> byte{0, 255};
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::uint8_t>(byte(engine())); });
  return bytes;
}

std::string fresh_identity() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return runtime::worker_identity(
      {host.data(), ::getpid(), system_now(), static_cast<std::uint32_t>(std::random_device{}())});
}

telemetry::Logger make_logger(const LogSource& source, std::int64_t generation) {
  if (!source.write) return {};
  return {source.write, {}, {source.service, source.environment, generation, std::nullopt}};
}

}  // namespace sluice::library
