#include "host/identity.hpp"

#include <pwd.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <vector>

#include "host/entropy.hpp"

namespace sluice::host {

namespace {

constexpr std::size_t kHostMaxBytes = 63;

std::string printable_host(std::string_view host) {
  if (host.empty()) return "localhost";
  std::string text{host.substr(0, kHostMaxBytes)};
  const auto is_odd = [](char c) { return c <= ' ' || c >= 0x7F || c == ':'; };
  std::replace_if(text.begin(), text.end(), is_odd, '_');
  return text;
}

// 20260425T014302: the ISO form without its punctuation and fraction.
std::string compact(Timestamp at) {
  std::string text = to_iso8601(at).substr(0, 19);
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
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

std::string worker_identity(const ProcessIdentity& process) {
  std::array<char, 9> random{};
  std::snprintf(random.data(), random.size(), "%08x", process.random);
  std::string identity = printable_host(process.host) + ":" + std::to_string(process.pid) + ":" +
                         compact(process.start) + ":" + random.data();
  if (!process.machine.empty()) identity.append(":").append(process.machine);
  return identity;
}

std::optional<NamedProcess> process_named(std::string_view identity) {
  constexpr std::size_t kParts = 5;
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= identity.size();) {
    const std::size_t end = std::min(identity.find(':', begin), identity.size());
    parts.push_back(identity.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts.size() != kParts || parts[0].empty() || parts[4].empty()) return std::nullopt;
  NamedProcess named{std::string{parts[0]}, 0, std::string{parts[4]}};
  const auto [end, status] = std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), named.pid);
  if (status != std::errc{} || end != parts[1].data() + parts[1].size() || named.pid < 1) return std::nullopt;
  return named;
}

std::string host_name() {
  std::array<char, 256> host{};
  return ::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "";
}

std::string user_name() {
  const ::passwd* const entry = ::getpwuid(::geteuid());
  return entry != nullptr ? entry->pw_name : "uid" + std::to_string(::geteuid());
}

std::string fresh_identity() {
  return worker_identity({host_name(), ::getpid(), wall_clock(), random_number(), machine_mark()});
}

bool process_is_gone(std::int64_t pid) {
  if (::kill(static_cast<pid_t>(pid), 0) != 0) return errno == ESRCH;
  // One that has ended keeps its id until its parent has looked.
  std::string stat;
  std::getline(std::ifstream{"/proc/" + std::to_string(pid) + "/stat"}, stat);
  const std::size_t name_end = stat.rfind(") ");
  return name_end != std::string::npos && name_end + 2 < stat.size() && stat[name_end + 2] == 'Z';
}

}  // namespace sluice::host
