// sluice serve and sluice mcp: what runs until it is stopped.
#include <algorithm>
#include <chrono>
#include <ostream>
#include <set>
#include <utility>

#include "cli/command.hpp"
#include "cli/session.hpp"
#include "cli/version.hpp"
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "core/words.hpp"
#include "mcp/operation_carrier.hpp"
#include "mcp/transport.hpp"
#include "ops/generations.hpp"

namespace sluice::cli {
namespace {

using Asked = Interruption::Asked;

// heartbeat, presence, reaper, retention, operations, alerts, figures, streams, publishing, and the routes' threads
constexpr int kServiceConnections = 13;

// A thread that delivers to a sink needs one while it claims or settles, and none while it waits for the sink: many
// threads share a few. The listener's connection comes on top.
int connections(const config::Config& config) {
  std::set<std::string> sinks;
  for (const auto& subscription : config.declared.subscriptions) sinks.insert(subscription.sink);
  // Sinks consume from the broker as well as from the store, and the relay claims.
  const int sources = config.relay.urls.empty() ? 1 : 2;
  const int pools = sources * std::max(1, static_cast<int>(sinks.size()));
  return kServiceConnections + std::min(pools * config.worker.threads, config.worker.connections);
}

// Who gets events from this daemon, and what becomes of the others.
std::string handlers_text(const config::Config& config) {
  if (config.declared.subscriptions.empty() && !config.relay.urls.empty())
    return "none of its own: it relays to " + config.relay.kind() + " while `sluice ladder relay` has that turned on";
  if (config.declared.subscriptions.empty())
    return "sluice.log logs every event: the configuration has no subscription";
  std::string names;
  for (const auto& subscription : config.declared.subscriptions) {
    names += (names.empty() ? "" : ", ") + subscription.handler_name;
  }
  return names + "; what no handler subscribes to stays pending";
}

struct Ready {
  std::string store;
  Generation generation = kFirstGeneration;
  std::string handlers;
  std::string url;  ///< empty: nothing listens
  bool asks_for_token = false;
};

void announce(const Session& session, const Ready& ready) {
  if (session.format() == Format::table) {
    session.out() << "sluice is ready: store " << printable(ready.store) << ", generation " << ready.generation << '\n';
    session.out() << "  handlers " << printable(ready.handlers) << '\n';
    if (!ready.url.empty()) {
      const std::string token = ready.asks_for_token ? " -H 'authorization: Bearer …'" : "";
      session.out() << "  console  " << ready.url << "\n  publish  curl " << ready.url
                    << "v1/events -H 'content-type: application/json'" << token
                    << " -d '{\"event_type\":\"demo.hello\",\"source\":\"demo\",\"payload\":{\"n\":1}}'\n";
    }
    session.out() << std::flush;
    return;
  }
  session.out() << JsonObject{}
                       .boolean("ready", true)
                       .text("store", ready.store)
                       .number("generation", ready.generation)
                       .text("url", ready.url.empty() ? std::nullopt : std::optional<std::string_view>{ready.url})
                       .str()
                << std::endl;
}

// A file that cannot be used changes nothing: the daemon goes on as it is.
void reload(const Session& session, Daemon& daemon) {
  const auto config = session.config();
  const auto done = config ? daemon.reload(*config) : Result<void>{config.error()};
  session.note(done ? "configuration reloaded"
                    : "the configuration was not reloaded, the old one stays in force: " + done.error().message);
}

Result<Exit> serve(Session& session) {
  SLUICE_TRY(const auto config, session.config());
  Interruption& interruption = *session.adapters().interruption;
  interruption.arm();
  interruption.arm_reload();
  SLUICE_TRY(auto store, session.open_whole(config, Session::Access::create, connections(config)));
  SLUICE_TRY(const auto generation, Session::generation(config, store.administering));
  SLUICE_TRY(const bool allocated, ops::is_allocated(store.administering, generation));
  if (!allocated) {
    const std::string number = std::to_string(generation);
    session.note("generation " + number +
                 " was never allocated, so only events that name it come here: run `sluice generation allocate " +
                 number + "`, or leave out --generation");
  }
  SLUICE_TRY(auto daemon, session.adapters().start_daemon({*store.all, config, generation}));

  if (daemon->url().empty()) {
    session.note("nothing listens on a network port: events come in through the command line, SQL or the library");
  }
  announce(session, {ops::name_of(store.administering), generation, handlers_text(config), daemon->url(),
                     !config.declared.tokens.empty()});
  for (auto asked = Asked::nothing; asked != Asked::stop;) {
    asked = interruption.wait_for_any(std::chrono::hours{1});
    if (asked == Asked::reload) reload(session, *daemon);
  }
  session.note("stopping: finishing what is in flight");
  daemon->stop();
  session.note("stopped");
  return Exit::ok;
}

constexpr int kConnections = 3;  // a request, the operations that are carried out, and one to spare

std::string executor_name(const host::Entropy& entropy) {
  return "mcp-" + make_uuid_v7(entropy.clock(), entropy.random()).to_string();
}

void announce(const Session& session, const store::Administering& store, const mcp::Limits& limits) {
  session.note("mcp: store " + ops::name_of(store) + ", " +
               (limits.read_only ? "read-only"
                                 : "at most " + counted(limits.max_rows, "event") + " replayed, " +
                                       std::to_string(limits.max_rate) + " per second"));
}

Result<Exit> serve_mcp(Session& session) {
  SLUICE_TRY(const auto config, session.config());
  const mcp::Limits limits{session.arguments().has("--read-only"), config.mcp.max_rows, config.mcp.max_rate};
  SLUICE_TRY(const auto store, session.open(config, Session::Access::existing, kConnections));

  const host::Entropy& entropy = session.adapters().entropy;
  const auto exporting = session.exporting(config);
  mcp::OperationCarrier carrier{{*store, executor_name(entropy), config.operation_lease, tracer_of(exporting)},
                                [&session](const std::string& text) { session.note(text); }};
  mcp::Context context{
      *store, entropy, config.redaction, mcp::Allowance{limits}, config.generation, [&carrier](const Uuid& operation) {
        carrier.add(operation);
      }};
  context.tracer = tracer_of(exporting);
  context.trace_url = config.trace_url;
  context.edit = {config.edit_replay, {.payload_bytes = config.payload_max_bytes}};
  const mcp::Toolbox tools{context};
  mcp::Protocol protocol{tools, {std::string{kVersion}, config.actor, session.arguments().value("--agent")}};
  announce(session, *store, limits);
  if (!limits.read_only) carrier.start();
  mcp::serve(session.console().in, session.out(), protocol);
  for (const Uuid& left : carrier.stop()) {
    session.note("operation " + left.to_string() +
                 " is not over; a running daemon goes on with it, and so does `sluice op watch " + left.to_string() +
                 "`");
  }
  return Exit::ok;
}

}  // namespace

std::vector<Command> serve_commands() {
  return {
      {{"serve"},
       "deliver events until stopped by SIGTERM or Ctrl-C",
       {{"sluice serve", "on the embedded store; every event is logged, unless the configuration has subscriptions"},
        {"sluice serve --store postgres://worker@db/app --generation 42", ""}},
       {},
       {{"--listen",
         "",
         "HOST:PORT",
         "where the API and the console answer; default 127.0.0.1:7311; off: nowhere",
         {},
         "http.listen"},
        {"--batch", "", "N", "the most events claimed at once; default 100", {}, "worker.batch"},
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
         "by then a stop gives back what is not done; default 30s",
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

std::vector<Command> mcp_commands() {
  return {{{"mcp"},
           "offer the dead-letter queue to an agent as MCP tools, on standard input and output",
           {{"sluice mcp --read-only", "an agent that may look and not touch"},
            {"sluice mcp --max-rows 5000 --max-rate 200 --store postgres://operator@db/app", "during an outage"}},
           {},
           {{"--read-only", "", "", "offer no tool that changes anything"},
            {"--agent", "", "NAME", "who the audit names; default: as the client calls itself"},
            {"--max-rows", "", "N", "the most events replayed until it ends; default 100", {}, "mcp.max_rows"},
            {"--max-rate", "", "N", "the most events per second of a plan; default 50", {}, "mcp.max_rate"}},
           false,
           false,
           serve_mcp}};
}

}  // namespace sluice::cli
