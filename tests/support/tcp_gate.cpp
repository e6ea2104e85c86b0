#include "tests/support/tcp_gate.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

namespace sluice::test {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

}  // namespace

TcpGate::TcpGate(int server_port) : server_port_(server_port), acceptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(acceptor_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(acceptor_, 64) != 0 ||
      ::getsockname(acceptor_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("the gate cannot listen");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

TcpGate::~TcpGate() {
  thread_.request_stop();
  thread_.join();
  ::close(acceptor_);
  for (const Pair& pair : pairs_) {
    ::close(pair.client);
    ::close(pair.server);
  }
}

void TcpGate::swallow_listeners() {
  const std::lock_guard lock{mutex_};
  for (Pair& pair : pairs_) {
    if (!pair.listens || pair.swallowed) continue;
    pair.swallowed = true;
    ++swallowed_;
  }
}

void TcpGate::accept_one() {
  const int client = ::accept(acceptor_, nullptr, nullptr);
  const int server = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = loopback(server_port_);
  if (client < 0 || ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(client);
    ::close(server);
    return;
  }
  pairs_.push_back({client, server});
}

// False when either side has hung up.
bool TcpGate::pass(int from, int to, Pair& pair) {
  std::array<char, 16384> buffer{};
  const ssize_t got = ::recv(from, buffer.data(), buffer.size(), 0);
  if (got <= 0) return false;
  const std::string_view text{buffer.data(), static_cast<std::size_t>(got)};
  if (from == pair.client && text.find("listen ") != std::string_view::npos) pair.listens = true;
  ssize_t sent = 0;
  while (sent < got) {
    const ssize_t more = ::send(to, buffer.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
    if (more <= 0) return false;
    sent += more;
  }
  return true;
}

void TcpGate::run(const std::stop_token& stop) {
  constexpr int kTickMilliseconds = 5;
  while (!stop.stop_requested()) {
    std::vector<pollfd> descriptors{{acceptor_, POLLIN, 0}};
    {
      const std::lock_guard lock{mutex_};
      for (const Pair& pair : pairs_) {
        const short wanted = pair.swallowed ? 0 : POLLIN;
        descriptors.push_back({pair.swallowed ? -1 : pair.client, wanted, 0});
        descriptors.push_back({pair.swallowed ? -1 : pair.server, wanted, 0});
      }
    }
    ::poll(descriptors.data(), descriptors.size(), kTickMilliseconds);
    const std::lock_guard lock{mutex_};
    for (std::size_t i = (descriptors.size() - 1) / 2; i-- > 0;) {
      Pair& pair = pairs_[i];
      if (pair.swallowed) continue;
      const bool from_client = (descriptors[1 + 2 * i].revents & (POLLIN | POLLHUP)) != 0;
      const bool from_server = (descriptors[2 + 2 * i].revents & (POLLIN | POLLHUP)) != 0;
      const bool alive = (!from_client || pass(pair.client, pair.server, pair)) &&
                         (!from_server || pass(pair.server, pair.client, pair));
      if (alive) continue;
      ::close(pair.client);
      ::close(pair.server);
      pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if ((descriptors[0].revents & POLLIN) != 0) accept_one();
  }
}

}  // namespace sluice::test
