// Who this process is: the name under which it claims, the machine and the user it runs as.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sluice/time.hpp>

namespace sluice::host {

struct ProcessIdentity {
  std::string host;
  std::int64_t pid = 0;
  Timestamp start{};
  std::uint32_t random = 0;
  /// What tells one kernel's processes from another's where machines or containers share a host name: eight hexadecimal
  /// digits; empty: not known.
  std::string machine;
};

/// `web-1:4711:20260425T014302:0badcafe:5eedf00d`. Start and random number make it unique per process start,
/// also where containers share a host name and a pid; the machine's mark comes last. Printable ASCII, at most 120
/// bytes.
std::string worker_identity(const ProcessIdentity& process);

/// Which process of which machine a worker's identity names, as far as the machine is marked in it.
struct NamedProcess {
  std::string host;
  std::int64_t pid = 0;
  std::string machine;
};
/// None: it names no process of a marked machine.
std::optional<NamedProcess> process_named(std::string_view identity);

/// Of this machine; empty where the system does not tell.
std::string host_name();
/// Whom this process runs as.
std::string user_name();
/// worker_identity() of this process, another one at each call.
std::string fresh_identity();
/// True only when no process of this machine's process table has the id, or when it has ended already.
bool process_is_gone(std::int64_t pid);

}  // namespace sluice::host
