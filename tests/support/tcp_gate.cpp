#include "tests/support/tcp_gate.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <string_view>

namespace sluice::test {
namespace {

constexpr std::size_t kMostQueued = std::size_t{4} << 20U;  // of one direction; then the sender has to wait
constexpr std::size_t kDescriptorsPerPair = 4;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

// Small messages leave at once: any delay is the gate's own.
void prepare(int descriptor) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

}  // namespace

TcpGate::TcpGate(int server_port, std::uint64_t seed)
    : server_port_(server_port),
      acceptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      random_(seed) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(acceptor_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(acceptor_, 256) != 0 ||
      ::getsockname(acceptor_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("the gate cannot listen");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

TcpGate::~TcpGate() {
  thread_.request_stop();
  wake();
  thread_.join();
  for (Pair& pair : pairs_) close(pair);
  ::close(acceptor_);
  ::close(bell_);
}

void TcpGate::wake() {
  const std::uint64_t one = 1;
  static_cast<void>(::write(bell_, &one, sizeof one) > 0);
}

void TcpGate::delay(Span least, Span jitter) {
  const std::lock_guard lock{mutex_};
  delay_ = least;
  jitter_ = jitter;
}

void TcpGate::swallow_listeners() {
  const std::lock_guard lock{mutex_};
  for (Pair& pair : pairs_) {
    if (!pair.listens || pair.swallowed) continue;
    pair.swallowed = true;
    ++swallowed_;
  }
}

std::vector<TcpGate::Pair*> TcpGate::pick(int count, bool only_listeners) {
  std::vector<Pair*> found;
  for (Pair& pair : pairs_) {
    if (!pair.swallowed && !pair.dead && (pair.listens || !only_listeners)) found.push_back(&pair);
  }
  std::shuffle(found.begin(), found.end(), random_);
  found.resize(std::min(found.size(), static_cast<std::size_t>(std::max(count, 0))));
  return found;
}

int TcpGate::cut(int count) {
  const std::lock_guard lock{mutex_};
  const auto picked = pick(count, false);
  for (Pair* pair : picked) {
    const linger reset{1, 0};
    if (random_() % 2 == 0) ::setsockopt(pair->up.from, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    pair->dead = true;
  }
  wake();
  return static_cast<int>(picked.size());
}

int TcpGate::stall(int count, Span time) {
  const std::lock_guard lock{mutex_};
  const auto picked = pick(count, false);
  for (Pair* pair : picked) pair->still_until = Clock::now() + time;
  return static_cast<int>(picked.size());
}

int TcpGate::swallow(int count, Span time, bool only_listeners) {
  const std::lock_guard lock{mutex_};
  const auto picked = pick(count, only_listeners);
  for (Pair* pair : picked) {
    pair->swallowed = true;
    pair->closes_at = Clock::now() + time;
    ++swallowed_;
  }
  wake();
  return static_cast<int>(picked.size());
}

void TcpGate::lose_answers_to(std::string text, int count) {
  const std::lock_guard lock{mutex_};
  losing_ = std::move(text);
  to_lose_ = count;
}

void TcpGate::heal() {
  const std::lock_guard lock{mutex_};
  to_lose_ = 0;
  for (Pair& pair : pairs_) {
    pair.still_until = {};
    pair.dead = pair.dead || pair.swallowed || pair.loses_answer;
  }
  wake();
}

void TcpGate::accept_one() {
  const int client = ::accept4(acceptor_, nullptr, nullptr, SOCK_CLOEXEC);
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(server_port_);
  if (client < 0 || ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(client);
    ::close(server);
    return;
  }
  prepare(client);
  prepare(server);
  Pair& pair = pairs_.emplace_back();
  pair.up.from = pair.down.to = client;
  pair.up.to = pair.down.from = server;
}

void TcpGate::read(Pair& pair, Lane& lane, Clock::time_point now) {
  static thread_local std::array<char, 65536> buffer{};
  const ssize_t got = ::recv(lane.from, buffer.data(), buffer.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    lane.ended = true;
    return;
  }
  const std::string_view text{buffer.data(), static_cast<std::size_t>(got)};
  const bool request = &lane == &pair.up;
  if (request && text.find("listen ") != std::string_view::npos) pair.listens = true;
  if (request && to_lose_ > 0 && text.find(losing_) != std::string_view::npos) {
    --to_lose_;
    pair.loses_answer = true;
  } else if (!request && pair.loses_answer) {
    ++lost_;
    pair.dead = true;
    return;
  }
  Clock::time_point due = now + delay_;
  if (jitter_.count() > 0)
    due += Span{static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(jitter_.count()))};
  if (!lane.queue.empty()) due = std::max(due, lane.queue.back().due);
  lane.queue.push_back({due, std::string{text}});
  lane.queued += text.size();
}

void TcpGate::write(Pair& pair, Lane& lane, Clock::time_point now) {
  while (!lane.queue.empty() && lane.queue.front().due <= now) {
    const std::string& bytes = lane.queue.front().bytes;
    const ssize_t sent = ::send(lane.to, bytes.data() + lane.sent, bytes.size() - lane.sent, MSG_NOSIGNAL);
    if (sent < 0) {
      pair.dead = pair.dead || (errno != EAGAIN && errno != EINTR);
      return;
    }
    lane.sent += static_cast<std::size_t>(sent);
    if (lane.sent < bytes.size()) return;
    lane.queued -= bytes.size();
    lane.sent = 0;
    lane.queue.pop_front();
  }
  if (lane.ended && lane.queue.empty()) pair.dead = true;
}

// Four descriptors per connection: both ends to read from, and both to write to where something is due.
void TcpGate::watch(const Pair& pair, Clock::time_point now, std::vector<pollfd>& descriptors,
                    Clock::time_point& wake) const {
  const bool still = pair.swallowed || pair.still_until > now;
  if (still) wake = std::min(wake, pair.swallowed ? pair.closes_at : pair.still_until);
  for (const Lane* lane : {&pair.up, &pair.down}) {
    const bool reads = !still && !lane->ended && lane->queued < kMostQueued;
    const bool writes = !still && !lane->queue.empty() && lane->queue.front().due <= now;
    if (!still && !lane->queue.empty() && !writes) wake = std::min(wake, lane->queue.front().due);
    descriptors.push_back({reads ? lane->from : -1, POLLIN, 0});
    descriptors.push_back({writes ? lane->to : -1, POLLOUT, 0});
  }
}

void TcpGate::step(Pair& pair, const pollfd* events, Clock::time_point now) {
  pair.dead = pair.dead || pair.closes_at <= now;
  if (pair.dead || pair.swallowed || pair.still_until > now) return;
  if (events != nullptr && events[0].revents != 0) read(pair, pair.up, now);
  if (events != nullptr && events[2].revents != 0 && !pair.dead) read(pair, pair.down, now);
  if (!pair.dead) write(pair, pair.up, now);
  if (!pair.dead) write(pair, pair.down, now);
}

void TcpGate::close(Pair& pair) {
  ::close(pair.up.from);
  ::close(pair.up.to);
}

void TcpGate::run(const std::stop_token& stop) {
  constexpr std::size_t kOwn = 2;
  std::vector<pollfd> descriptors;
  while (!stop.stop_requested()) {
    descriptors.assign({{acceptor_, POLLIN, 0}, {bell_, POLLIN, 0}});
    Clock::time_point now = Clock::now();
    Clock::time_point wake = now + std::chrono::seconds{1};
    {
      const std::lock_guard lock{mutex_};
      for (const Pair& pair : pairs_) watch(pair, now, descriptors, wake);
    }
    const auto rest = std::max(std::chrono::nanoseconds{0}, std::chrono::nanoseconds{wake - now});
    const timespec timeout{static_cast<time_t>(rest.count() / 1'000'000'000),
                           static_cast<long>(rest.count() % 1'000'000'000)};
    ::ppoll(descriptors.data(), descriptors.size(), &timeout, nullptr);
    std::uint64_t count = 0;
    static_cast<void>(::read(bell_, &count, sizeof count) > 0);
    const std::lock_guard lock{mutex_};
    now = Clock::now();
    std::size_t at = kOwn;
    for (auto pair = pairs_.begin(); pair != pairs_.end(); at += kDescriptorsPerPair) {
      step(*pair, &descriptors[at], now);
      if (pair->dead) {
        close(*pair);
        pair = pairs_.erase(pair);
      } else {
        ++pair;
      }
    }
    if ((descriptors[0].revents & POLLIN) != 0) accept_one();
  }
}

}  // namespace sluice::test
