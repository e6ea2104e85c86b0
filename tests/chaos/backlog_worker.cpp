// backlog_worker STORE THREADS PATTERN POLL_MS: a program of the public library that is started on a backlog. Prints
// "ready"; ends in order when its standard input ends.
#include <chrono>
#include <iostream>
#include <string>

#include <sluice/listener.hpp>

namespace {

// What heals in the background is switched off where this build has it: the test shows what is stranded.
template <class Options>
void without_patrol(Options& options) {
  if constexpr (requires { options.patrol = false; }) options.patrol = false;
}

int fail(const sluice::Error& error) {
  std::cerr << "backlog_worker: " << error.message << '\n';
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    std::cerr << "usage: backlog_worker STORE THREADS PATTERN POLL_MS\n";
    return 2;
  }
  sluice::ListenerOptions options{.store = words[1]};
  options.generation = 1;
  options.threads = std::stoi(words[2]);
  options.poll = options.safety_poll = std::chrono::milliseconds{std::stoi(words[4])};
  without_patrol(options);
  auto listener = sluice::EventListener::open(options);
  if (!listener) return fail(listener.error());
  const auto handle = [](const sluice::EventEnvelope&) {};
  if (auto done = listener->listen({.handler_name = "tests.backlog", .events = {words[3]}}, handle); !done) {
    return fail(done.error());
  }
  if (auto done = listener->start(); !done) return fail(done.error());
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
  listener->stop();
  return 0;
}
