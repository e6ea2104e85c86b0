// A TCP gate between a client and a server: passes everything on, until it is told to swallow what the
// connections that LISTEN send and receive, as a broken network does, without closing anything.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace sluice::test {

class TcpGate {
 public:
  explicit TcpGate(int server_port);
  ~TcpGate();
  TcpGate(const TcpGate&) = delete;
  TcpGate& operator=(const TcpGate&) = delete;

  [[nodiscard]] int port() const { return port_; }
  /// From now on the connections that have sent LISTEN so far hear and say nothing any more.
  void swallow_listeners();
  [[nodiscard]] int swallowed() const { return swallowed_; }

 private:
  struct Pair {
    int client;
    int server;
    bool listens = false;
    bool swallowed = false;
  };
  void run(const std::stop_token& stop);
  void accept_one();
  bool pass(int from, int to, Pair& pair);

  int server_port_;
  int port_ = 0;
  int acceptor_ = -1;
  std::mutex mutex_;
  std::vector<Pair> pairs_;
  std::atomic<int> swallowed_ = 0;
  std::jthread thread_;
};

}  // namespace sluice::test
