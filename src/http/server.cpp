#include "http/server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include <thread>
#include <utility>

#include "core/try.hpp"
#include "http/session.hpp"

namespace sluice::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

Error cannot_listen(const ServerOptions& options, const std::string& why) {
  Error error =
      invalid("http.listen", "cannot listen on " + options.host + ":" + std::to_string(options.port) + ": " + why);
  error.hint = "choose another address with --listen, or --listen off for none";
  return error;
}

class BeastServer final : public Server {
 public:
  BeastServer(ServerOptions options, std::shared_ptr<const Application> application)
      : shared_(std::make_shared<SessionContext>(std::move(options), std::move(application))), acceptor_(shared_->io) {}
  ~BeastServer() override { stop(); }

  Result<void> listen() {
    boost::system::error_code problem;
    tcp::resolver resolver{shared_->io};
    const auto found = resolver.resolve(shared_->options.host, std::to_string(shared_->options.port), problem);
    if (problem || found.empty()) return cannot_listen(shared_->options, problem.message());
    const tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor_.open(endpoint.protocol(), problem);
    if (!problem) acceptor_.set_option(tcp::acceptor::reuse_address(true), problem);
    if (!problem) acceptor_.bind(endpoint, problem);
    if (!problem) acceptor_.listen(asio::socket_base::max_listen_connections, problem);
    if (problem) return cannot_listen(shared_->options, problem.message());
    port_ = acceptor_.local_endpoint().port();
    accept();
    thread_ = std::jthread{[context = shared_] { context->io.run(); }};
    return {};
  }

  [[nodiscard]] std::uint16_t port() const override { return port_; }
  [[nodiscard]] ServerCounts counts() const override {
    return {shared_->connections.load(), accepted_.load(), turned_away_.load()};
  }

  void replace(std::shared_ptr<const Application> application) override {
    shared_->application = std::move(application);
  }

  void close() override {
    shared_->closing = true;
    asio::post(shared_->io, [this] {
      boost::system::error_code ignored;
      acceptor_.close(ignored);
      shared_->close_idle();
    });
  }

  void stop() override {
    if (!thread_.joinable()) return;
    shared_->io.stop();
    thread_.join();
    // What is under way holds its session, the session what all share, and that the queue of what is under way: told
    // that its connection is closed, it lets go.
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    rest_.cancel();
    shared_->close_all();
    shared_->io.restart();
    shared_->io.poll();
  }

 private:
  void accept() {
    acceptor_.async_accept([this](boost::system::error_code problem, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (problem) return accept_later();
      ++accepted_;
      if (shared_->connections.load() >= shared_->options.max_connections) {
        ++turned_away_;  // the socket closes here
      } else {
        start_session(std::move(socket), shared_);
      }
      accept();
    });
  }

  // Out of descriptors, most likely: trying again at once would only burn time.
  void accept_later() {
    rest_.expires_after(std::chrono::milliseconds{100});
    rest_.async_wait([this](boost::system::error_code problem) {
      if (!problem && acceptor_.is_open()) accept();
    });
  }

  std::shared_ptr<SessionContext> shared_;
  tcp::acceptor acceptor_;
  asio::steady_timer rest_{shared_->io};
  std::uint16_t port_ = 0;
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::uint64_t> turned_away_{0};
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, std::shared_ptr<const Application> application) {
  auto server = std::make_unique<BeastServer>(std::move(options), std::move(application));
  SLUICE_CHECK(server->listen());
  return std::unique_ptr<Server>{std::move(server)};
}

}  // namespace sluice::http
