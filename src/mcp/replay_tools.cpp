// Replay of one dead letter, and of many: plan, execute, watch.
#include <algorithm>
#include <string>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "mcp/schema.hpp"
#include "mcp/tool.hpp"
#include "ops/dead_letters.hpp"
#include "ops/operations.hpp"

namespace sluice::mcp {
namespace {

using namespace schema;
using Type = Parameter::Type;

Members operation_members() {
  return {
      {"operation_id", uuid("pass it to get_operation")},
      {"kind", choice({"replay", "discard", "restore"})},
      {"state", choice({"planned", "running", "paused", "stopped", "cancelled", "finished"},
                       "stopped: ended by itself because too many failed again, note says how many; finished: every "
                       "event has its outcome")},
      {"phase", nullable(choice({"canary", "rest", "settling"},
                                "of one that runs or is paused; settling: every event was taken, the last are being "
                                "delivered"))},
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
      {"per_second", nullable(number("events with an outcome per second, on average since it started"))},
      {"eta_seconds", nullable(integer("until it is over, at that pace"))},
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

std::string operation_schema() { return object(operation_members()); }

std::string plan_schema() {
  Members members = operation_members();
  members.emplace_back("overlaps", list(object({{"operation_id", uuid()}, {"filter", text()}, {"events", integer()}}),
                                        "operations under way that have the same events before them"));
  members.emplace_back("token", nullable(uuid("for execute_replay_plan; null: nothing matches")));
  members.emplace_back("preview", nullable(preview_schema()));
  members.emplace_back("rows_left", integer("events that this server may still replay"));
  return object(members);
}

Result<std::string> replay(const Call& call) {
  Allowance& allowance = call.context.allowance;
  SLUICE_CHECK(allowance.check_rows(1));
  SLUICE_TRY(const auto id, call.event_id());
  const auto handler = call.arguments.text("handler");
  const auto generation = call.to_generation();
  Tracer* tracer = call.context.tracer;
  auto report = handler ? ops::replay_to_handler(call.context.store, {id, *handler, generation}, call.audited(), tracer)
                        : ops::replay_event(call.context.store, id, generation, call.audited(), tracer);
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
                 {"cycle", integer("which replay of the event this is, 1 for the first")},
                 {"attempts", integer("before it")},
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
              "the others of its group. The audit keeps your name and the reason. Next: get_dlq_event_detail until "
              "status is delivered, or failed again.",
          {{"event_id", Type::event_id, true,
            "The event, by event_id of list_dlq_events, or at least 8 digits of its beginning"},
           {"reason", Type::reason, true, kReasonWords},
           {"handler", Type::text, false,
            "This handler alone runs, also when it has handled the event; the others stay as they are"},
           {"to_generation", Type::integer, false, kGenerationWords, 1}},
          replay_schema(),
          {.read_only = false, .destructive = true, .idempotent = false, .open_world = true},
          replay};
}

constexpr std::int64_t kCanary = 10;
constexpr std::int64_t kLargestCanary = 1000;
constexpr std::int64_t kStopPercent = 20;
constexpr std::int64_t kHighestStopPercent = 50;  // an agent may be more careful than that, not less
constexpr std::int64_t kPlannedCountCap = 1'000'000;

// Counted before it is frozen, so that the refusal of a huge set costs little and names its size.
Result<void> check_size(const Call& call, const ops::EventQuery& query) {
  SLUICE_TRY(const auto filter, filter_for(call, query));
  SLUICE_TRY(const auto counted, ops::count_dead(call.context.store, filter, kPlannedCountCap));
  return call.context.allowance.check_rows(counted.count);
}

Result<std::string> plan(const Call& call) {
  SLUICE_TRY(auto query, ops::EventQuery::parse(*call.arguments.text("filter")));
  SLUICE_CHECK(check_size(call, query));
  ops::BulkRequest request;
  request.query = std::move(query);
  request.to_generation = call.to_generation();
  request.settings = {call.context.allowance.limits().max_rate, kCanary, kStopPercent};
  request.most = std::max<std::int64_t>(call.context.allowance.rows_left(), 1);  // 0 would be no limit
  SLUICE_TRY(const auto planned, ops::plan_bulk(call.context.store, request, call.audited(), call.context.entropy));
  return JsonObject{ops::to_json(planned)}.number("rows_left", call.context.allowance.rows_left()).str();
}

// The store speaks of its own parameters; the agent knows those of the tool.
Error in_tool_words(Error error) {
  if (error.field == "count") error.field = "confirm_count";
  if (error.field == "operation_id" || error.field == "id") error.field = "token";
  if (!error.hint.empty()) return error;
  switch (error.code) {
    case ErrorCode::conflict:
    case ErrorCode::not_found:
      error.hint = "call plan_replay again and use its token";
      break;
    case ErrorCode::invalid:
      if (error.field == "confirm_count") error.hint = "confirm_count must be the total that plan_replay answered";
      break;
    default:
      break;
  }
  return error;
}

Result<ops::NewSettings> settings_of(const Call& call) {
  SLUICE_TRY(const auto rate, call.context.allowance.rate(call.arguments.integer("rate")));
  return ops::NewSettings{rate, static_cast<int>(*call.arguments.integer("canary")),
                          static_cast<int>(*call.arguments.integer("stop_percent"))};
}

Result<void> may_start(const Call& call, const Uuid& id) {
  const auto planned = ops::find_plan(call.context.store, id, OperationKind::replay);
  if (!planned) return in_tool_words(planned.error());
  return call.context.allowance.check_rows(planned->progress.counts.total);
}

Result<std::string> execute(const Call& call) {
  SLUICE_TRY(const auto settings, settings_of(call));
  const auto found = ops::whole_operation_id(call.context.store, *call.arguments.text("token"), "token");
  if (!found) return in_tool_words(found.error());
  const Uuid id = *found;
  SLUICE_CHECK(may_start(call, id));
  const std::int64_t confirmed = *call.arguments.integer("confirm_count");
  auto started =
      ops::start_operation(call.context.store, {id, confirmed, settings, OperationKind::replay}, call.audited());
  // A lost answer counts: it may run.
  if (started || started.error().retry == Retry::in_doubt) {
    call.context.allowance.spend(confirmed);
    if (call.context.carry_out) call.context.carry_out(id);
  }
  if (!started) return in_tool_words(std::move(started).error());
  return ops::to_json(*started);
}

Result<std::string> show_operation(const Call& call) {
  SLUICE_TRY(const auto id,
             ops::whole_operation_id(call.context.store, *call.arguments.text("operation_id"), "operation_id"));
  SLUICE_TRY(const auto operation, ops::find_operation(call.context.store, id));
  SLUICE_TRY(const auto now, ops::now(call.context.store));
  return ops::to_json(operation, now);
}

std::vector<Parameter> execute_parameters() {
  return {
      {"token", Type::text, true, "token of plan_replay, or at least 8 digits of its beginning"},
      {"confirm_count", Type::integer, true, "total of that plan: how many events you mean to replay", 1},
      {"reason", Type::reason, true, kReasonWords},
      {"rate", Type::integer, false, "Events per second; left out: the highest that this server allows", 1},
      {"canary", Type::integer, false, "So many first, the rest only when they went well", 1, kLargestCanary, kCanary},
      {"stop_percent", Type::integer, false, "Stops by itself when more than this share fails again", 0,
       kHighestStopPercent, kStopPercent}};
}

Tool plan_tool() {
  return {"plan_replay",
          "Plan a replay of many",
          "Freezes the set of dead letters that match the filter and tells how many there are, which handlers would "
          "run, and what stands in the way. No event is changed. Use it before every replay of more than one event. "
          "Show the total and the preview to the person you work for. Next: execute_replay_plan with the token, or "
          "nothing: a plan that is not started expires after 15 minutes. Refused when it is more than this server "
          "may replay; total 0 and token null: nothing matches.",
          {filter_parameter(true), {"to_generation", Type::integer, false, kGenerationWords, 1}},
          plan_schema(),
          {.read_only = false, .destructive = false, .idempotent = false, .open_world = false},
          plan};
}

Tool execute_tool() {
  return {"execute_replay_plan",
          "Execute a replay plan",
          "Starts a plan: the events go back to pending, a canary first, at a rate, and their handlers run again with "
          "whatever they do outside. It stops by itself when too many fail again. Refused when an event of the set "
          "changed since the plan, or the plan has expired: plan again. Returns at once. Next: get_operation every few "
          "seconds until state is finished or stopped.",
          execute_parameters(),
          operation_schema(),
          {.read_only = false, .destructive = true, .idempotent = false, .open_world = true},
          execute};
}

Tool watch_tool() {
  return {
      "get_operation",
      "Show the progress of a plan",
      "Shows how far a plan is: delivered, failed again, skipped, in flight, remaining. Use it after "
      "execute_replay_plan until state is finished, stopped or cancelled. If it stopped, note says why: look at "
      "list_failure_clusters before you plan again. paused means that a person wants it to wait.",
      {{"operation_id", Type::text, true,
        "operation_id of execute_replay_plan, which is also the plan's token, or at least 8 digits of its beginning"}},
      operation_schema(),
      {},
      show_operation};
}

}  // namespace

std::vector<Tool> replay_tools() {
  return {replay_tool("replay_dlq_event", "Replay one dead letter", "Replays one event of the dead-letter queue."),
          replay_tool("replay_outbox_row", "Replay one failed outbox row",
                      "The same as replay_dlq_event, under the name of the runbook: replays one failed row.")};
}

std::vector<Tool> plan_tools() { return {plan_tool(), execute_tool(), watch_tool()}; }

}  // namespace sluice::mcp
