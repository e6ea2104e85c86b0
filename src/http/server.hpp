// The HTTP/1.1 server: sockets, limits and deadlines. What is answered is the application's.
//
// One thread does all reading and writing. Requests that break the protocol, or its limits, are answered with a 4xx
// and the connection is closed; one that is too slow is closed without a word.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <sluice/result.hpp>
#include "http/application.hpp"

namespace sluice::http {

struct ServerOptions {
  std::string host = "127.0.0.1";  ///< an address or `localhost`
  std::uint16_t port = 0;          ///< 0: any that is free
  std::size_t max_connections = 1024;
  std::size_t max_header_bytes = std::size_t{16} * 1024;
  std::size_t max_body_bytes = std::size_t{1024} * 1024;  ///< whatever a route allows
  std::chrono::milliseconds idle_timeout{75'000};         ///< between requests
  std::chrono::milliseconds header_timeout{10'000};       ///< from the first byte of a request to the end of its head
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds write_timeout{30'000};
};

struct ServerCounts {
  std::size_t connections = 0;    ///< open now
  std::uint64_t accepted = 0;     ///< since the start
  std::uint64_t turned_away = 0;  ///< above max_connections
};

class Server {
 public:
  /// Listens when it returns. The error names `http.listen`.
  static Result<std::unique_ptr<Server>> start(ServerOptions options, std::shared_ptr<const Application> application);
  virtual ~Server() = default;
  Server() = default;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] virtual std::uint16_t port() const = 0;
  [[nodiscard]] virtual ServerCounts counts() const = 0;
  /// Requests that come from now on are this application's.
  virtual void replace(std::shared_ptr<const Application> application) = 0;
  /// Takes no new connection or request from now on; answers under way are still sent.
  virtual void close() = 0;
  /// Ends everything; nothing is sent any more.
  virtual void stop() = 0;
};

}  // namespace sluice::http
