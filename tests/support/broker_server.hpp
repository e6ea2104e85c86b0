// Real brokers of one test's own: nats-server with JetStream and redis-server, on free ports and in folders of their
// own, to be killed and started again at will. They end with the test, however it ends.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/free_port.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::test {

/// A server in a process, ready when its log says so.
class BrokerProcess {
 public:
  BrokerProcess(std::vector<std::string> words, std::string ready);
  ~BrokerProcess();
  BrokerProcess(const BrokerProcess&) = delete;
  BrokerProcess& operator=(const BrokerProcess&) = delete;

  void start();
  /// As a crash would: SIGKILL, and waits for its end.
  void kill() { end(SIGKILL); }
  /// As an operator would: SIGTERM, and waits for its end.
  void stop() { end(SIGTERM); }
  void signal(int number) const;

 private:
  void end(int number);
  std::vector<std::string> words_;
  std::string ready_;
  pid_t pid_ = -1;
  int log_ = -1;
  std::jthread draining_;
};

class NatsServer {
 public:
  /// `settings` as the configuration file takes them: "max_payload: 1024".
  explicit NatsServer(const std::string& settings = "", int port = free_port());

  void start() { process_.start(); }
  void kill() { process_.kill(); }
  void stop() { process_.stop(); }
  void signal(int number) const { process_.signal(number); }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url() const { return "nats://127.0.0.1:" + std::to_string(port_); }

 private:
  std::string write_settings(const std::string& settings) const;
  TempDir folder_;
  int port_;
  BrokerProcess process_;
};

/// What JetStream of the server on this port answers to an operator's request, `STREAM.DELETE.SLUICE`, over NATS' own
/// text protocol: without the adapter that is tested.
std::string ask_jetstream(int port, const std::string& request, const std::string& body = "");

class RedisServer {
 public:
  /// `settings` as the command line takes them: {"--requirepass", "hush"}. Appends every write to its file at once
  /// unless they say otherwise.
  explicit RedisServer(const std::vector<std::string>& settings = {}, int port = free_port());

  void start() { process_.start(); }
  void kill() { process_.kill(); }
  void stop() { process_.stop(); }
  void signal(int number) const { process_.signal(number); }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

 private:
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& settings) const;
  TempDir folder_;
  int port_;
  BrokerProcess process_;
};

}  // namespace sluice::test
