// A receiver of webhooks that does as little as possible: one thread, an empty 200 for every request, until it is
// ended. What is measured against it is whoever sends.
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "bench/bench.hpp"

namespace sluice::bench {
namespace {

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

// The bytes of the first whole request, or 0.
std::size_t whole_request(std::string_view text) {
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) return 0;
  for (const std::string_view name : {"Content-Length: ", "content-length: "}) {
    const std::size_t at = text.substr(0, end).find(name);
    if (at == std::string_view::npos) continue;
    const std::size_t length = std::strtoul(text.data() + at + name.size(), nullptr, 10);
    return text.size() >= end + 4 + length ? end + 4 + length : 0;
  }
  return end + 4;
}

int listening_socket() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), size) != 0 || ::listen(listener, 1024) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("receiver");
    std::exit(1);
  }
  std::printf("{\"url\":\"http://127.0.0.1:%d/\"}\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return listener;
}

void watch(int poll, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  ::epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
}

// False: the connection is over.
bool serve(int descriptor, std::string& buffer) {
  std::array<char, 65536> bytes{};
  const ssize_t got = ::read(descriptor, bytes.data(), bytes.size());
  if (got <= 0) return false;
  buffer.append(bytes.data(), static_cast<std::size_t>(got));
  while (const std::size_t length = whole_request(buffer)) {
    buffer.erase(0, length);
    if (::send(descriptor, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL) < 0) return false;
  }
  return true;
}

}  // namespace

int receiver(const Options&) {
  const int poll = ::epoll_create1(0);
  const int listener = listening_socket();
  watch(poll, listener);
  std::map<int, std::string> buffers;
  std::array<epoll_event, 256> events{};
  for (;;) {
    const int count = ::epoll_wait(poll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
      if (descriptor == listener) {
        if (const int client = ::accept(listener, nullptr, nullptr); client >= 0) watch(poll, client);
      } else if (!serve(descriptor, buffers[descriptor])) {
        buffers.erase(descriptor);
        ::close(descriptor);
      }
    }
  }
}

}  // namespace sluice::bench
