// A TCP port for a server that a test starts.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace sluice::test {

/// A TCP port that nobody listens on at the moment.
inline int free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(descriptor, generic, size) != 0 || ::getsockname(descriptor, generic, &size) != 0) {
    throw std::runtime_error("no free port");
  }
  ::close(descriptor);
  return ntohs(address.sin_port);
}

}  // namespace sluice::test
