// Connections that LISTEN and otherwise do nothing, until standard input is closed: what each further process costs
// whoever publishes.
#include <libpq-fe.h>
#include <poll.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "bench/bench.hpp"

namespace sluice::bench {
namespace {

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;

Connection listening(const std::string& dsn) {
  Connection connection{PQconnectdb(dsn.c_str()), &PQfinish};
  PGresult* result = PQexec(connection.get(), "listen outbox_gen_1");
  if (PQresultStatus(result) != PGRES_COMMAND_OK) {
    std::fprintf(stderr, "sluice_bench: %s", PQerrorMessage(connection.get()));
    std::exit(1);
  }
  PQclear(result);
  return connection;
}

// A listener that never reads would block its server process once the socket is full.
std::int64_t heard(PGconn* connection) {
  std::int64_t count = 0;
  PQconsumeInput(connection);
  while (PGnotify* notice = PQnotifies(connection)) {
    PQfreemem(notice);
    ++count;
  }
  return count;
}

}  // namespace

int idle_listeners(const Options& options) {
  const auto count = static_cast<std::size_t>(options.number("count", 10));
  std::vector<Connection> connections;
  std::vector<pollfd> sockets{{.fd = 0, .events = POLLIN, .revents = 0}};
  for (std::size_t i = 0; i < count; ++i) {
    connections.push_back(listening(options.text("dsn", "")));
    sockets.push_back({.fd = PQsocket(connections.back().get()), .events = POLLIN, .revents = 0});
  }
  std::printf("{\"ready\":true}\n");
  std::fflush(stdout);
  std::int64_t notices = 0;
  while (sockets.front().revents == 0) {
    (void)::poll(sockets.data(), sockets.size(), -1);
    for (std::size_t i = 0; i < count; ++i) {
      if (sockets[i + 1].revents != 0) notices += heard(connections[i].get());
    }
  }
  report("idle-listeners", static_cast<double>(notices), "notices");
  return 0;
}

}  // namespace sluice::bench
