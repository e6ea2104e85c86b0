// A consumer for relay_load.py: books every event in the transaction of its dedup row. SLUICE_STORE and SLUICE_BROKER
// say where; it ends with SIGTERM.
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigwait is POSIX

#include <iostream>

#include <sluice/listener.hpp>

namespace {

void book(std::span<const sluice::EventEnvelope> events, sluice::Transaction& transaction) {
  for (const sluice::EventEnvelope& event : events) {
    transaction.execute("insert into public.effects (event_id) values ($1::uuid)", {event.event_id().to_string()});
  }
}

}  // namespace

int main() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  auto options = sluice::ListenerOptions::from_environment();
  if (!options) {
    std::cerr << options.error().message << '\n';
    return 1;
  }
  options->broker.ack_wait = std::chrono::seconds{15};
  options->log = [](std::string_view line) { std::cerr << line; };
  auto listener = sluice::EventListener::open(*std::move(options));
  sluice::RetryPolicy patient;
  patient.max_attempts = 1000;
  patient.cap = std::chrono::seconds{1};
  if (!listener || !listener->listen({.handler_name = "chaos.books", .context = "*", .retry = patient}, book) ||
      !listener->start()) {
    std::cerr << "cannot start\n";
    return 1;
  }
  int received = 0;
  sigwait(&signals, &received);
  listener->stop();
  return 0;
}
