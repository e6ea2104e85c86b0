// outage_worker STORE GENERATION MARKER: a worker of the shop during an outage. While the file MARKER exists its
// handler fails, each event type in a way of its own; once it is gone the same handler works. Prints "ready" when
// it has subscribed, and ends in order on SIGTERM.
//
//   outage.a   a peer that does not answer in time   TimeoutError
//   outage.b   a peer that refuses the connection    ConnectionError
//   outage.c   a thing that cannot be repaired       TerminalError
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <sluice/listener.hpp>

namespace {

template <class T>
T required(sluice::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

class Shop {
 public:
  explicit Shop(std::filesystem::path marker) : marker_(std::move(marker)) {}

  void operator()(const sluice::EventEnvelope& event) const {
    if (!std::filesystem::exists(marker_)) return;
    if (event.event_type() == "outage.a") {
      throw sluice::HandlerError{"TimeoutError", "the payment provider did not answer within 5 s"};
    }
    if (event.event_type() == "outage.b") {
      throw sluice::HandlerError{"ConnectionError", "connection refused by the warehouse at 10.0.0.7:8443"};
    }
    throw sluice::TerminalError{"the price list has no currency"};
  }

 private:
  std::filesystem::path marker_;
};

sigset_t ending_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  return ending;
}

void work(const std::string& store, const std::string& generation, const std::string& marker) {
  // Before any thread starts, so that none of them takes the signal.
  const sigset_t ending = ending_signals();
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);

  sluice::ListenerOptions options{.store = store, .service = "shop"};
  options.generation = std::stoll(generation);
  options.poll = std::chrono::milliseconds{100};
  auto listener = required(sluice::EventListener::open(options));
  sluice::RetryPolicy once;
  once.max_attempts = 1;
  required(listener.listen({.handler_name = "shop.outage", .events = {"outage.*"}, .retry = once}, Shop{marker}));
  required(listener.start());
  std::cout << "ready" << std::endl;
  int signal = 0;
  sigwait(&ending, &signal);
  listener.stop();
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::cerr << "usage: outage_worker STORE GENERATION MARKER\n";
    return 2;
  }
  try {
    work(words[1], words[2], words[3]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "outage_worker: " << error.what() << '\n';
    return 1;
  }
}
