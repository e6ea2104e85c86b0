#include "http_client/socket_watch.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace sluice::http_client {
namespace {

constexpr int kMostEvents = 256;

std::uint32_t wanted(int what) {
  std::uint32_t events = 0;
  if ((what & CURL_POLL_IN) != 0) events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) events |= EPOLLOUT;
  return events;
}

int seen(std::uint32_t events) {
  int bits = 0;
  if ((events & (EPOLLIN | EPOLLHUP)) != 0) bits |= CURL_CSELECT_IN;
  if ((events & EPOLLOUT) != 0) bits |= CURL_CSELECT_OUT;
  if ((events & EPOLLERR) != 0) bits |= CURL_CSELECT_ERR;
  return bits;
}

}  // namespace

SocketWatch::SocketWatch(CURLM* multi)
    : multi_(multi), epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  assert(epoll_ >= 0 && wake_ >= 0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
}

SocketWatch::~SocketWatch() {
  // Connections that are kept open are closed with the multi handle, after us.
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, nullptr);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, nullptr);
  ::close(wake_);
  ::close(epoll_);
}

void SocketWatch::wake() const { ::eventfd_write(wake_, 1); }

int SocketWatch::timeout(std::chrono::milliseconds longest) const {
  if (!due_) return static_cast<int>(longest.count());
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due_ - Clock::now());
  return static_cast<int>(std::clamp(left, std::chrono::milliseconds::zero(), longest).count());
}

void SocketWatch::step(std::chrono::milliseconds longest) {
  std::array<epoll_event, kMostEvents> events{};
  const int count = ::epoll_wait(epoll_, events.data(), kMostEvents, timeout(longest));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == wake_) {
      eventfd_t ignored = 0;
      ::eventfd_read(wake_, &ignored);
    } else {
      act(event.data.fd, seen(event.events));
    }
  }
  if (due_ && *due_ <= Clock::now()) {
    due_.reset();
    act(CURL_SOCKET_TIMEOUT, 0);
  }
}

void SocketWatch::act(curl_socket_t socket, int events) {
  int running = 0;
  curl_multi_socket_action(multi_, socket, events, &running);
}

int SocketWatch::on_socket(CURL* /*easy*/, curl_socket_t socket, int what, void* self, void* known) {
  auto& watch = *static_cast<SocketWatch*>(self);
  if (what == CURL_POLL_REMOVE) {
    ::epoll_ctl(watch.epoll_, EPOLL_CTL_DEL, socket, nullptr);
    curl_multi_assign(watch.multi_, socket, nullptr);
    return 0;
  }
  epoll_event event{};
  event.events = wanted(what);
  event.data.fd = socket;
  ::epoll_ctl(watch.epoll_, known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event);
  curl_multi_assign(watch.multi_, socket, self);
  return 0;
}

int SocketWatch::on_timer(CURLM* /*multi*/, long milliseconds, void* self) {
  auto& watch = *static_cast<SocketWatch*>(self);
  watch.due_.reset();
  if (milliseconds >= 0) watch.due_ = Clock::now() + std::chrono::milliseconds{milliseconds};
  return 0;
}

}  // namespace sluice::http_client
