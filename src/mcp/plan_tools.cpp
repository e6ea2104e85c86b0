// Replay of many: plan, execute, watch.
#include <algorithm>
#include <string>
#include <utility>

#include "core/json_object.hpp"
#include "mcp/schema.hpp"
#include "mcp/tool.hpp"
#include "mcp/tool_words.hpp"
#include "ops/dead_letters.hpp"
#include "ops/operations.hpp"

namespace sluice::mcp {
namespace {

using Type = Parameter::Type;

constexpr std::int64_t kCanary = 10;
constexpr std::int64_t kLargestCanary = 1000;
constexpr std::int64_t kStopPercent = 20;
constexpr std::int64_t kHighestStopPercent = 50;  // an agent may be more careful than that, not less
constexpr std::int64_t kPlannedCountCap = 1'000'000;

// Counted before it is frozen, so that the refusal of a huge set costs little and names its size.
Result<void> check_size(const Call& call, const ops::EventQuery& query) {
  const auto filter = query.filter(call.context.store);
  if (!filter) return filter.error();
  const auto counted = ops::count_dead(call.context.store, *filter, kPlannedCountCap);
  if (!counted) return counted.error();
  return call.context.allowance.check_rows(counted->count);
}

Result<std::string> plan(const Call& call) {
  auto query = ops::EventQuery::parse(*call.arguments.text("filter"));
  if (!query) return std::move(query).error();
  if (auto fits = check_size(call, *query); !fits) return std::move(fits).error();
  ops::BulkRequest request;
  request.query = *std::move(query);
  request.to_generation = call.to_generation();
  request.settings = {call.context.allowance.limits().max_rate, kCanary, kStopPercent};
  request.most = std::max<std::int64_t>(call.context.allowance.rows_left(), 1);  // 0 would be no limit
  const auto planned = ops::plan_bulk(call.context.store, request, call.audited(), call.context.entropy);
  if (!planned) return planned.error();
  return JsonObject{ops::to_json(*planned)}.number("rows_left", call.context.allowance.rows_left()).str();
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
  const auto rate = call.context.allowance.rate(call.arguments.integer("rate"));
  if (!rate) return rate.error();
  return ops::NewSettings{*rate, static_cast<int>(*call.arguments.integer("canary")),
                          static_cast<int>(*call.arguments.integer("stop_percent"))};
}

Result<void> may_start(const Call& call, const Uuid& id) {
  const auto planned = ops::find_plan(call.context.store, id, OperationKind::replay);
  if (!planned) return in_tool_words(planned.error());
  return call.context.allowance.check_rows(planned->progress.counts.total);
}

Result<std::string> execute(const Call& call) {
  const auto settings = settings_of(call);
  if (!settings) return settings.error();
  const Uuid id = call.arguments.uuid("token");
  if (auto allowed = may_start(call, id); !allowed) return std::move(allowed).error();
  const std::int64_t confirmed = *call.arguments.integer("confirm_count");
  auto started =
      ops::start_operation(call.context.store, {id, confirmed, *settings, OperationKind::replay}, call.audited());
  // A lost answer counts: it may run.
  if (started || started.error().retry == Retry::in_doubt) {
    call.context.allowance.spend(confirmed);
    if (call.context.carry_out) call.context.carry_out(id);
  }
  if (!started) return in_tool_words(std::move(started).error());
  return ops::to_json(*started);
}

Result<std::string> show_operation(const Call& call) {
  const auto operation = ops::find_operation(call.context.store, call.arguments.uuid("operation_id"));
  if (!operation) return operation.error();
  return ops::to_json(*operation);
}

std::vector<Parameter> execute_parameters() {
  return {
      {"token", Type::uuid, true, "token of plan_replay"},
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
  return {"get_operation",
          "Show the progress of a plan",
          "Shows how far a plan is: delivered, failed again, skipped, in flight, remaining. Use it after "
          "execute_replay_plan until state is finished, stopped or cancelled. If it stopped, note says why: look at "
          "list_failure_clusters before you plan again. paused means that a person wants it to wait.",
          {{"operation_id", Type::uuid, true, "operation_id of execute_replay_plan, which is also the plan's token"}},
          operation_schema(),
          {},
          show_operation};
}

}  // namespace

std::vector<Tool> plan_tools() { return {plan_tool(), execute_tool(), watch_tool()}; }

}  // namespace sluice::mcp
