// Replay of one dead letter.
#include "core/json_object.hpp"
#include "mcp/schema.hpp"
#include "mcp/tool.hpp"
#include "mcp/tool_words.hpp"
#include "ops/replay_event.hpp"

namespace sluice::mcp {
namespace {

using Type = Parameter::Type;
using namespace schema;

Result<std::string> replay(const Call& call) {
  Allowance& allowance = call.context.allowance;
  if (auto allowed = allowance.check_rows(1); !allowed) return std::move(allowed).error();
  auto report =
      ops::replay_event(call.context.store, call.arguments.uuid("event_id"), call.to_generation(), call.audited());
  // A lost answer counts: the event may have been replayed.
  if (report || report.error().retry == Retry::in_doubt) allowance.spend(1);
  if (!report) {
    Error error = std::move(report).error();
    if (error.hint.empty() && error.code == ErrorCode::conflict) {
      error.hint = "call get_dlq_event_detail: it is not a dead letter any more, or somebody else replayed it";
    }
    return error;
  }
  return JsonObject{ops::to_json(*report)}.number("rows_left", allowance.rows_left()).str();
}

std::string replay_schema() {
  return object({{"event_id", uuid()},
                 {"status", choice({"pending"}, "it waits for a worker now")},
                 {"cycle", integer("the cycle of attempts that was closed, 1 for the first")},
                 {"attempts", integer("of that cycle")},
                 {"from_generation", integer()},
                 {"to_generation", integer()},
                 {"rows_left", integer("events that this server may still replay")}});
}

Tool replay_tool(std::string_view name, std::string_view title, std::string_view first) {
  return {name,
          title,
          std::string{first} +
              " It keeps its id, goes back to pending, and the handlers that have not handled it run again, with "
              "whatever they do outside. Use it when the cause is gone, to try one event before plan_replay replays "
              "the others of its kind. The audit keeps your name and the reason. Next: get_dlq_event_detail until "
              "status is delivered, or failed again.",
          {{"event_id", Type::uuid, true, "The event, by event_id of list_dlq_events"},
           {"reason", Type::reason, true, kReasonWords},
           {"to_generation", Type::integer, false, kGenerationWords, 1}},
          replay_schema(),
          {.read_only = false, .destructive = true, .idempotent = false, .open_world = true},
          replay};
}

}  // namespace

std::vector<Tool> replay_tools() {
  return {replay_tool("replay_dlq_event", "Replay one dead letter", "Replays one event of the dead-letter queue."),
          replay_tool("replay_outbox_row", "Replay one failed outbox row",
                      "The same as replay_dlq_event, under the name of the runbook: replays one failed row.")};
}

}  // namespace sluice::mcp
