// One connection: requests in, answers out, one after the other. Private to the server.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "http/server.hpp"

namespace sluice::http {

class Session;

/// What all connections of a server share; it outlives the last of them and whoever still owes one an answer.
struct SessionContext {
  SessionContext(ServerOptions server_options, std::shared_ptr<const Application> the_application)
      : options(std::move(server_options)), application(std::move(the_application)) {}

  /// Ends the connections that wait for a request. On the server's thread.
  void close_idle();
  /// Ends all of them. On the server's thread, or when it has ended.
  void close_all();
  void remember(const std::shared_ptr<Session>& session);
  void forget(Session* session);

  ServerOptions options;
  std::atomic<std::shared_ptr<const Application>> application;
  boost::asio::io_context io{1};
  // Somebody may owe an answer while no socket is read or written.
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  std::atomic<std::size_t> connections{0};
  std::atomic<bool> closing{false};

 private:
  std::vector<std::shared_ptr<Session>> open_sessions();

  std::mutex mutex_;  // whoever answers last may be another thread
  std::map<Session*, std::weak_ptr<Session>> open_;
};

void start_session(boost::asio::ip::tcp::socket socket, const std::shared_ptr<SessionContext>& context);

}  // namespace sluice::http
