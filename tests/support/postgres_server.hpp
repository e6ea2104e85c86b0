// A PostgreSQL server of one test's own, to be restarted and killed at will.
#pragma once

#include <string>

#include "tests/support/free_port.hpp"
#include "tests/support/temp_dir.hpp"

namespace sluice::test {

class PostgresServer {
 public:
  /// `settings` as the server takes them on its command line: "-c wal_writer_delay=10s".
  explicit PostgresServer(const std::string& settings = {});
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  [[nodiscard]] std::string url(const std::string& database = "postgres") const;
  [[nodiscard]] int port() const { return port_; }
  /// Stops it as a crash would, without a checkpoint, and starts it again.
  void crash_and_restart();

 private:
  void run(const std::string& command) const;
  TempDir folder_;
  std::string as_owner_;
  std::string bin_;
  std::string data_;
  int port_ = 0;
};

}  // namespace sluice::test
