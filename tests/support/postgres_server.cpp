#include "tests/support/postgres_server.hpp"

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace sluice::test {

PostgresServer::PostgresServer(const std::string& settings) : port_(free_port()) {
  const char* bin = std::getenv("SLUICE_TEST_POSTGRES_BIN");
  if (bin == nullptr)
    throw std::runtime_error("SLUICE_TEST_POSTGRES_BIN is not set: run under tests/support/with-postgres");
  bin_ = bin;
  data_ = folder_.path();
  if (::geteuid() == 0) {
    as_owner_ = "runuser -u postgres -- ";
    run("chown postgres " + data_);
  }
  run(as_owner_ + bin_ + "/initdb -D " + data_ + "/data -U sluice -A trust -E UTF8 --locale=C.UTF-8 -N");
  run(as_owner_ + bin_ + "/pg_ctl -D " + data_ + "/data -l " + data_ + "/log -w -o \"-p " + std::to_string(port_) +
      " -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off " + settings + "\" start");
}

PostgresServer::~PostgresServer() {
  static_cast<void>(
      std::system((as_owner_ + bin_ + "/pg_ctl -D " + data_ + "/data -m immediate -w stop >/dev/null 2>&1").c_str()));
}

void PostgresServer::run(const std::string& command) const {
  // A folder that both users can enter: the server refuses to start from one that it cannot read.
  if (std::system(("cd / && " + command + " >/dev/null 2>&1").c_str()) != 0) {
    throw std::runtime_error("failed: " + command);
  }
}

std::string PostgresServer::url(const std::string& database) const {
  return "postgres://sluice@127.0.0.1:" + std::to_string(port_) + "/" + database;
}

void PostgresServer::crash_and_restart() {
  run(as_owner_ + bin_ + "/pg_ctl -D " + data_ + "/data -m immediate -w -l " + data_ + "/log restart");
}

}  // namespace sluice::test
