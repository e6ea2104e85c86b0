// backlog_worker STORE THREADS PATTERN POLL_MS [PATROL_MS]: a program of the public library that is started on a
// backlog. Prints "ready"; ends in order when its standard input ends. Without PATROL_MS nothing patrols: what is
// stranded stays so.
#include <chrono>
#include <iostream>
#include <string>

#include <sluice/listener.hpp>

namespace {

int fail(const sluice::Error& error) {
  std::cerr << "backlog_worker: " << error.message << '\n';
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 5 && count != 6) {
    std::cerr << "usage: backlog_worker STORE THREADS PATTERN POLL_MS [PATROL_MS]\n";
    return 2;
  }
  sluice::ListenerOptions options{.store = words[1]};
  options.generation = 1;
  options.threads = std::stoi(words[2]);
  options.poll = options.safety_poll = std::chrono::milliseconds{std::stoi(words[4])};
  options.patrol = count == 6;
  if (options.patrol) {
    options.patrol_interval = options.patrol_overlooked_after = options.patrol_settled_again =
        std::chrono::milliseconds{std::stoi(words[5])};
  }
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
