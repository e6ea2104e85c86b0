// sluice mcp: the dead-letter queue as tools for agents, over standard input and output.
#include <utility>

#include "cli/noun.hpp"
#include "cli/session.hpp"
#include "cli/version.hpp"
#include "core/words.hpp"
#include "mcp/operation_carrier.hpp"
#include "mcp/server.hpp"

namespace sluice::cli {
namespace {

constexpr int kConnections = 3;  // a request, the operations that are carried out, and one to spare

std::string executor_name(const host::Entropy& entropy) {
  return "mcp-" + make_uuid_v7(entropy.clock(), entropy.random()).to_string();
}

void announce(const Session& session, const store::Store& store, const mcp::Limits& limits) {
  session.note("mcp: store " + store.display_name() + ", " +
               (limits.read_only ? "read-only"
                                 : "at most " + counted(limits.max_rows, "event") + " replayed, " +
                                       std::to_string(limits.max_rate) + " per second"));
}

Result<Exit> serve_mcp(Session& session) {
  const auto config = session.config();
  if (!config) return config.error();
  const mcp::Limits limits{session.arguments().has("--read-only"), config->mcp.max_rows, config->mcp.max_rate};
  const auto store = session.open(*config, Session::Access::existing, kConnections);
  if (!store) return store.error();

  const host::Entropy& entropy = session.adapters().entropy;
  mcp::OperationCarrier carrier{{**store, executor_name(entropy), config->operation_lease},
                                [&session](const std::string& text) { session.note(text); }};
  mcp::Desk desk{**store,
                 entropy,
                 config->redaction,
                 mcp::Allowance{limits},
                 config->generation,
                 [&carrier](const Uuid& operation) { carrier.add(operation); }};
  const mcp::Toolbox tools{desk};
  mcp::Protocol protocol{tools, {std::string{kVersion}, config->actor, session.arguments().value("--agent")}};
  announce(session, **store, limits);
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
