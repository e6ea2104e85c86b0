#include "mcp/schema.hpp"
#include "mcp/tool_words.hpp"

namespace sluice::mcp {
namespace {

using namespace schema;

Members operation_members() {
  return {
      {"operation_id", uuid("pass it to get_operation")},
      {"kind", choice({"replay", "discard", "restore"})},
      {"state", choice({"planned", "running", "paused", "stopped", "cancelled", "finished"},
                       "stopped: ended by itself because too many failed again, note says how many; finished: every "
                       "event has its outcome")},
      {"filter", text("as it was asked for")},
      {"to_generation", nullable(integer())},
      {"total", integer("events in the frozen set")},
      {"delivered", integer("replayed and handled")},
      {"failed_again", integer("replayed and dead again")},
      {"skipped", integer("no longer as the plan saw them, and left alone")},
      {"changed", integer("discarded or restored")},
      {"in_flight", integer("replayed, outcome not known yet")},
      {"remaining", integer("not touched yet")},
      {"rate", integer("events per second; 0: no limit")},
      {"canary", integer("so many first, the rest only when they went well; 0: none")},
      {"stop_percent", integer("stops when more than this share fails again")},
      {"actor", text("who planned it; once started: who started it")},
      {"surface", text()},
      {"reason", text()},
      {"note", text("why it stopped")},
      {"executor", text("the process that carries it out, or did last")},
      {"planned_at", time()},
      {"expires_at", time("a plan that was not started by then cannot be any more")},
      {"started_at", nullable(time())},
      {"ended_at", nullable(time())},
  };
}

std::string verdicts_schema() {
  return object({{"will_run", integer("at least one handler runs")},
                 {"already_handled", integer("every handler has handled it: delivered without running any")},
                 {"no_live_worker", integer("would wait: no live worker of the generation serves it")},
                 {"nobody_subscribes", integer("would wait: no handler subscribes to it")},
                 {"payload_invalid", integer("the contract of its type refuses the payload")}},
                "how many of the examined events would end how");
}

std::string preview_schema() {
  const std::string handler = object({{"handler_name", text()},
                                      {"will_run", integer()},
                                      {"already_handled", integer()},
                                      {"live", boolean("a live worker of the generation serves it")}});
  const std::string forecast = object(
      {{"event_id", uuid()},
       {"event_type", text()},
       {"verdict", choice({"will_run", "already_handled", "no_live_worker", "nobody_subscribes", "payload_invalid"})},
       {"will_run", list(text())},
       {"handled", list(text())},
       {"why", text()}});
  return object({{"generation", integer()},
                 {"examined", integer("events looked at; a larger set is judged by these")},
                 {"verdicts", verdicts_schema()},
                 {"handlers", list(handler)},
                 {"sample", list(forecast, "a few events of each verdict")}},
                "what would happen; nothing is reserved");
}

}  // namespace

std::string operation_schema() { return object(operation_members()); }

std::string plan_schema() {
  Members members = operation_members();
  members.emplace_back("token", nullable(uuid("for execute_replay_plan; null: nothing matches")));
  members.emplace_back("preview", nullable(preview_schema()));
  members.emplace_back("rows_left", integer("events that this server may still replay"));
  return object(members);
}

}  // namespace sluice::mcp
