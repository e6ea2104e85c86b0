#include "library/surroundings.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <utility>

#include "core/generation.hpp"
#include "core/try.hpp"
#include "host/identity.hpp"

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

std::string host_name() {
  std::array<char, 256> host{};
  return ::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "";
}

// The boot and the namespace in which process ids are counted: two processes that share both share a process table.
// Empty where the system does not tell.
std::string machine_mark() {
  std::string boot;
  std::getline(std::ifstream{"/proc/sys/kernel/random/boot_id"}, boot);
  std::array<char, 64> space{};
  const auto length = ::readlink("/proc/self/ns/pid", space.data(), space.size());
  if (boot.empty() || length <= 0) return {};
  std::uint32_t hash = 2'166'136'261U;  // FNV-1a
  for (const char c : boot + std::string{space.data(), static_cast<std::size_t>(length)}) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  }
  std::array<char, 9> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x", hash);
  return digits.data();
}

}  // namespace

Result<EnvironmentChoice> choice_from_environment() {
  EnvironmentChoice choice{variable("SLUICE_STORE", "DATABASE_URL"), std::nullopt, {}};
  std::string url;
  for (const char c : variable("SLUICE_BROKER", "SLUICE_BROKER") + ',') {
    if (c != ',') {
      url += c;
    } else if (!url.empty()) {
      choice.broker.push_back(std::exchange(url, {}));
    }
  }
  if (choice.store.empty()) {
    return invalid("SLUICE_STORE", "SLUICE_STORE is not set: it names the store, such as postgres://app@db/app");
  }
  const std::string generation = variable("SLUICE_GENERATION", "SPECTRAL_GENERATION");
  if (generation.empty()) return choice;
  SLUICE_TRY(const auto parsed, parse_generation(generation, "SLUICE_GENERATION"));
  choice.generation = parsed;
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
  return host::worker_identity(
      {host_name(), ::getpid(), system_now(), static_cast<std::uint32_t>(std::random_device{}()), machine_mark()});
}

bool process_is_gone(std::int64_t pid) {
  if (::kill(static_cast<pid_t>(pid), 0) != 0) return errno == ESRCH;
  // One that has ended keeps its id until its parent has looked.
  std::string stat;
  std::getline(std::ifstream{"/proc/" + std::to_string(pid) + "/stat"}, stat);
  const std::size_t name_end = stat.rfind(") ");
  return name_end != std::string::npos && name_end + 2 < stat.size() && stat[name_end + 2] == 'Z';
}

telemetry::Logger make_logger(const LogSource& source, std::int64_t generation) {
  if (!source.write) return {};
  return {source.write, {}, {source.service, source.environment, generation, std::nullopt}};
}

}  // namespace sluice::library
