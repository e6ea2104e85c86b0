// The name under which a process claims.
#pragma once

#include <cstdint>
#include <string>

#include <sluice/time.hpp>

namespace sluice::runtime {

struct ProcessIdentity {
  std::string host;
  std::int64_t pid = 0;
  Timestamp start{};
  std::uint32_t random = 0;
};

/// `web-1:4711:20260425T014302:0badcafe`. Start and random number make it unique per process start,
/// also where containers share a host name and a pid. Printable ASCII, at most 120 bytes.
std::string worker_identity(const ProcessIdentity& process);

}  // namespace sluice::runtime
