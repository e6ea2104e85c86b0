// fault_worker STORE PLACE NUMBER [SIGNAL]: a worker process that dies, or stops, when it comes to PLACE
// for the NUMBER-th time. Its handler writes each event to table `effects` exactly once. Prints a line when
// it is ready, and one with its counts when its standard input ends.
//
// Places: claimed, in_handler, after_effect, before_settle, settled, or never.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "host/identity.hpp"
#include "runtime/supervisor.hpp"
#include "store/postgres/postgres_store.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace {

using namespace sluice;
using namespace std::chrono_literals;

std::unique_ptr<store::Store> open_store(const std::string& address) {
  auto opened = [&]() -> Result<std::unique_ptr<store::Store>> {
    if (address.starts_with("postgres://")) {
      store::PostgresOptions options;
      options.dsn = address;
      options.max_connections = 8;
      return store::open_postgres(options);
    }
    store::SqliteOptions options;
    options.path = address;
    return store::open_sqlite(options);
  }();
  if (opened) return *std::move(opened);
  std::cerr << opened.error().message << '\n';
  std::exit(1);
}

class Trap {
 public:
  Trap(std::string place, int number, int signal) : place_(std::move(place)), left_(number), signal_(signal) {}
  void at(std::string_view place) {
    if (place == place_ && --left_ == 0) std::raise(signal_);
  }

 private:
  std::string place_;
  std::atomic<int> left_;
  int signal_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  Trap trap{argv[2], std::atoi(argv[3]), argc > 4 ? std::atoi(argv[4]) : SIGKILL};
  const auto store = open_store(argv[1]);

  runtime::HandlerSet handlers;
  RetryPolicy retry;
  retry.max_attempts = 1'000;
  retry.base = 1ms;
  retry.cap = 1ms;
  const auto effect = [&trap](const EventEnvelope& event, Transaction& transaction) {
    trap.at("in_handler");
    transaction.execute("insert into effects (event_id) values ($1)", {event.event_id().to_string()});
    trap.at("after_effect");
  };
  if (!handlers.add({.subscription = {.handler_name = "tests.effect"}, .handler = effect, .retry = retry})) return 2;

  runtime::SupervisorOptions options;
  options.worker.identity =
      host::worker_identity({"fault", ::getpid(), std::chrono::floor<Duration>(std::chrono::system_clock::now()), 1});
  options.worker.uniform01 = [] { return 0.5; };
  options.worker.batch_min = 5;
  options.worker.batch_max = 5;
  options.worker.ttl = 200ms;
  options.worker.at = [&trap](std::string_view place) { trap.at(place); };
  options.workers = 2;
  options.listener.safety_poll = 50ms;
  options.listener.poll = 50ms;
  options.reap_interval = 50ms;
  options.backoff = {5ms, 50ms};
  auto started = runtime::Supervisor::start(*store, std::move(handlers), {}, options);
  if (!started) {
    std::cerr << started.error().message << '\n';
    return 1;
  }
  std::cout << "ready" << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
  }
  (*started)->request_stop();
  (*started)->join();
  const auto totals = (*started)->totals();
  std::cout << "delivered " << totals.delivered << " fenced " << totals.fenced << std::endl;
  return 0;
}
