// sluice serve: claim and handle events until stopped.
#include <chrono>
#include <ostream>
#include <utility>

#include "cli/noun.hpp"
#include "cli/session.hpp"
#include "ops/json_object.hpp"

namespace sluice::cli {
namespace {

// A worker thread needs one for its claims and one for a handler's transaction.
constexpr int kServiceConnections = 6;  // heartbeat, presence, reaper, retention, operations, alerts
constexpr int kConnectionsPerThread = 2;

void announce(const Session& session, const store::Store& store, Generation generation) {
  if (session.format() == Format::table) {
    session.out() << "sluice is ready: store " << printable(store.display_name()) << ", generation " << generation
                  << std::endl;
    return;
  }
  session.out() << ops::JsonObject{}
                       .boolean("ready", true)
                       .text("store", store.display_name())
                       .number("generation", generation)
                       .str()
                << std::endl;
}

Result<Exit> serve(Session& session) {
  const auto config = session.config();
  if (!config) return config.error();
  Interruption& interruption = *session.adapters().interruption;
  interruption.arm();
  auto store = session.open(*config, Session::Access::create,
                            kServiceConnections + kConnectionsPerThread * config->worker.threads);
  if (!store) return std::move(store).error();
  const auto generation = Session::generation(*config, **store);
  if (!generation) return generation.error();
  auto daemon = session.adapters().start_daemon({**store, *config, *generation});
  if (!daemon) return std::move(daemon).error();

  session.note("nothing listens on a network port: events come in through the command line, SQL or the library");
  announce(session, **store, *generation);
  while (!interruption.wait_for(std::chrono::hours{1})) {
  }
  session.note("stopping: finishing what is in flight");
  (*daemon)->stop();
  session.note("stopped");
  return Exit::ok;
}

}  // namespace

std::vector<Command> serve_commands() {
  return {{{"serve"},
           "deliver events until stopped by SIGTERM or Ctrl-C",
           {{"sluice serve", "on the embedded store, with the log sink"},
            {"sluice serve --store postgres://worker@db/app --generation 42", ""}},
           {},
           {{"--batch", "", "N", "the most events claimed at once; default 100", {}, "worker.batch"},
            {"--claim-ttl",
             "",
             "DURATION",
             "a claim that is not renewed for this long expires; default 300s",
             {},
             "worker.claim_ttl"},
            {"--poll-interval",
             "",
             "DURATION",
             "how often to look while nothing can be heard; default 5s",
             {},
             "worker.poll_interval"},
            {"--threads", "", "N", "threads that claim and deliver; default 2", {}, "worker.threads"},
            {"--drain-timeout",
             "",
             "DURATION",
             "a stop gives back what has not begun by then; default 30s",
             {},
             "worker.drain_timeout"},
            {"--log-level",
             "",
             "LEVEL",
             "debug, info, warn or error; default info",
             {"debug", "info", "warn", "error"},
             "log.level"},
            {"--log-format", "", "FORMAT", "auto, json or text; default auto", {"auto", "json", "text"}, "log.format"}},
           false,
           false,
           serve}};
}

}  // namespace sluice::cli
