// A consumer for relay.py, with three handlers: one books every event in the transaction of its dedup row, one writes
// it to a file, and one refuses events of one type until the file CHAOS_MENDED is there. SLUICE_STORE and SLUICE_BROKER
// say where; it ends with SIGTERM.
#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigwait is POSIX
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include <sluice/listener.hpp>

namespace {

void book(const char* handler, std::span<const sluice::EventEnvelope> events, sluice::Transaction& transaction) {
  std::string ids = "{";
  for (const sluice::EventEnvelope& event : events) ids += (ids.size() > 1 ? "," : "") + event.event_id().to_string();
  transaction.execute(
      "insert into public.effects (handler, event_id) select $1, id from unnest($2::uuid[]) with ordinality "
      "as t(id, place) order by place",
      {handler, ids + "}"});
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

sluice::HandlerOptions patient(const char* name) {
  sluice::HandlerOptions options{.handler_name = name, .context = "*"};
  options.retry.max_attempts = 1000;
  options.retry.cap = std::chrono::seconds{1};
  return options;
}

sluice::Result<void> listen(sluice::EventListener& listener, int journal) {
  auto added = listener.listen(patient("chaos.books"),
                               [](std::span<const sluice::EventEnvelope> events, sluice::Transaction& transaction) {
                                 book("chaos.books", events, transaction);
                               });
  sluice::HandlerOptions idempotent = patient("chaos.journal");
  idempotent.idempotent = true;
  if (added) {
    added = listener.listen(idempotent, [journal](const sluice::EventEnvelope& event) {
      const std::string line = event.event_id().to_string() + '\n';
      if (::write(journal, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        throw std::runtime_error("no room");
    });
  }
  sluice::HandlerOptions picky = patient("chaos.picky");
  picky.events = {"chaos.poison"};
  picky.retry.max_attempts = 2;
  if (added) {
    added = listener.listen(picky, [](std::span<const sluice::EventEnvelope> events, sluice::Transaction& transaction) {
      if (::access(variable("CHAOS_MENDED").c_str(), F_OK) != 0) throw std::runtime_error("picky refuses this");
      book("chaos.picky", events, transaction);
    });
  }
  return added;
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
  options->batch = 500;
  options->log = [](std::string_view line) {
    if (line.find("\"level\":\"info\"") == std::string_view::npos) std::cerr << line;
  };
  const int journal = ::open(variable("CHAOS_JOURNAL").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  auto listener = sluice::EventListener::open(*std::move(options));
  if (journal < 0 || !listener || !listen(*listener, journal) || !listener->start()) {
    std::cerr << "cannot start\n";
    return 1;
  }
  int received = 0;
  sigwait(&signals, &received);
  listener->stop();
  return 0;
}
