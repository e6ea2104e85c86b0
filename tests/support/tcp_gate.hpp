// A TCP gate between clients and a server: the network as a test wants it. Everything passes, as late as it is told;
// on request connections are cut, stand still, fall silent without being closed, or lose one answer of the server.
//
// Delays hold each way. What a connection sends keeps its order, whatever the jitter.
//
// Thread-safety: any thread may call; one thread of the gate's own moves the bytes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

namespace sluice::test {

class TcpGate {
 public:
  using Clock = std::chrono::steady_clock;
  using Span = std::chrono::microseconds;

  explicit TcpGate(int server_port, std::uint64_t seed = 1);
  ~TcpGate();
  TcpGate(const TcpGate&) = delete;
  TcpGate& operator=(const TcpGate&) = delete;

  [[nodiscard]] int port() const { return port_; }

  /// From now on whatever comes passes `least` later, and up to `jitter` later than that.
  void delay(Span least, Span jitter);
  /// From now on the connections that have sent LISTEN so far hear and say nothing any more.
  void swallow_listeners();
  [[nodiscard]] int swallowed() const { return swallowed_; }

  // Each picks at most `count` connections at random and says how many it found.
  int cut(int count);                                      ///< closed, half of them with a reset
  int stall(int count, Span time);                         ///< nothing passes; then everything does
  int swallow(int count, Span time, bool only_listeners);  ///< nothing passes; then closed
  /// The next `count` requests that contain `text` reach the server; instead of its answer the client gets the end
  /// of the connection.
  void lose_answers_to(std::string text, int count);
  [[nodiscard]] int lost_answers() const { return lost_; }
  /// Nothing is picked on any more: what stands still goes on, what is silent is closed, no answer is lost.
  void heal();

 private:
  struct Chunk {
    Clock::time_point due;
    std::string bytes;
  };
  struct Lane {
    int from = -1;
    int to = -1;
    std::deque<Chunk> queue;
    std::size_t sent = 0;  // of the first chunk
    std::size_t queued = 0;
    bool ended = false;
  };
  struct Pair {
    Lane up;
    Lane down;
    bool listens = false;
    bool swallowed = false;
    bool loses_answer = false;
    bool dead = false;
    Clock::time_point still_until{};
    Clock::time_point closes_at = Clock::time_point::max();
  };
  void run(const std::stop_token& stop);
  void accept_one();
  void read(Pair& pair, Lane& lane, Clock::time_point now);
  static void write(Pair& pair, Lane& lane, Clock::time_point now);
  void watch(const Pair& pair, Clock::time_point now, std::vector<pollfd>& descriptors, Clock::time_point& wake) const;
  void step(Pair& pair, const pollfd* events, Clock::time_point now);
  void close(Pair& pair);
  void wake();
  std::vector<Pair*> pick(int count, bool only_listeners);

  int server_port_;
  int port_ = 0;
  int acceptor_ = -1;
  int bell_ = -1;
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::list<Pair> pairs_;
  Span delay_{};
  Span jitter_{};
  std::string losing_;
  int to_lose_ = 0;
  std::atomic<int> swallowed_ = 0;
  std::atomic<int> lost_ = 0;
  std::jthread thread_;
};

/// A URL of a server on loopback: its port, and the same URL through a gate.
inline int port_of(const std::string& url) { return std::stoi(url.substr(url.find("127.0.0.1:") + 10)); }
inline std::string with_port(const std::string& url, int port) {
  const std::size_t host = url.find("127.0.0.1:") + 10;
  return url.substr(0, host) + std::to_string(port) + url.substr(url.find('/', host));
}

}  // namespace sluice::test
