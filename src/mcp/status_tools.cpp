// The state of the store, and what this server may do.
#include "core/json_object.hpp"
#include "core/try.hpp"
#include "mcp/schema.hpp"
#include "mcp/tool.hpp"
#include "ops/ladder.hpp"
#include "ops/status_report.hpp"

namespace sluice::mcp {
namespace {

using namespace schema;

std::string session_json(const Call& call) {
  const Allowance& allowance = call.context.allowance;
  return JsonObject{}
      .text("actor", call.actor)
      .boolean("read_only", allowance.limits().read_only)
      .number("max_rows", allowance.limits().max_rows)
      .number("rows_left", allowance.rows_left())
      .number("max_rate", allowance.limits().max_rate)
      .str();
}

Result<std::string> show_status(const Call& call) {
  SLUICE_TRY(const auto report, ops::report_status(call.context.store));
  return JsonObject{ops::to_json(report)}.raw("session", session_json(call)).str();
}

std::string generation_schema() {
  return object({{"generation", integer()},
                 {"state", nullable(choice({"allocated", "live", "draining", "retired"}))},
                 {"pending", integer()},
                 {"waiting", integer("of pending: not due yet")},
                 {"in_flight", integer()},
                 {"delivered", integer()},
                 {"failed", integer("dead letters")},
                 {"oldest_pending_at", nullable(time())},
                 {"workers", integer("that are alive")},
                 {"abandoned", boolean("it has events and no live worker: they wait for ever")},
                 {"estimated", list(text(), "the figures that are estimates; that nothing is left never is one")}});
}

std::string status_schema() {
  const std::string worker = object({{"identity", text()},
                                     {"generation", integer()},
                                     {"handlers", list(text())},
                                     {"listener", text()},
                                     {"started_at", time()},
                                     {"seen_at", time()},
                                     {"alive", boolean()}});
  const std::string unsubscribed = object({{"generation", integer()},
                                           {"event_type", text()},
                                           {"target", nullable(text())},
                                           {"count", integer()},
                                           {"oldest_at", nullable(time())}});
  const std::string sink = object({{"name", text()},
                                   {"kind", text()},
                                   {"target", text()},
                                   {"state", choice({"active", "paused", "disabled", "open", "half_open"})},
                                   {"changed_at", time()},
                                   {"changed_by", text()},
                                   {"reason", text()},
                                   {"opened_at", nullable(time())},
                                   {"resumes_at", nullable(time())},
                                   {"open_reason", text()},
                                   {"subscriptions", list(text(), "handlers that it serves")},
                                   {"declared_at", time()}});
  return object({{"store", text()},
                 {"schema", object({{"applied", integer()}, {"known", integer()}})},
                 {"now", time("the store's clock")},
                 {"default_generation", integer("where new and replayed events go")},
                 {"generations", list(generation_schema())},
                 {"discarded", integer()},
                 {"discarded_estimated", boolean()},
                 {"dead_letters", object({{"count", integer("no further than 10000")},
                                          {"unacknowledged", integer("of these, what nobody has acknowledged")},
                                          {"capped", boolean("there are at least this many")}})},
                 {"workers", list(worker, "that are alive")},
                 {"sinks", list(sink, "where daemons deliver to; one that is not active keeps its events waiting")},
                 {"unsubscribed", list(unsubscribed, "pending events that no handler wants")},
                 {"session", object({{"actor", text("who the audit names for what you do")},
                                     {"read_only", boolean()},
                                     {"max_rows", integer("events that this server may replay in all")},
                                     {"rows_left", integer("of these, not used yet")},
                                     {"max_rate", integer("events per second of a plan")}},
                                    "what this server allows")}});
}

Result<std::string> show_ladder(const Call& call) {
  SLUICE_TRY(const auto report, ops::report_ladder(call.context.store));
  return ops::to_json(report);
}

std::string ladder_schema() {
  const std::string step = choice({"partition", "relay", "move"});
  const std::string trigger = object({{"trigger", text()},
                                      {"unit", choice({"rows", "seconds", "share"})},
                                      {"value", nullable(number("null: nothing was measured"))},
                                      {"threshold", number("the trigger is above it, not at it")},
                                      {"since", nullable(time("it has been above ever since"))},
                                      {"due", boolean()},
                                      {"step", step}});
  return object({{"store", text()},
                 {"now", time("the store's clock")},
                 {"stage", choice({"embedded", "one_table", "partitioned", "relayed"})},
                 {"known_since", time("the hourly history goes back to here without a gap")},
                 {"due", nullable(object({{"step", step}, {"command", text()}, {"cost", text()}}))},
                 {"why", text("one sentence, whether or not a step is due")},
                 {"triggers", list(trigger)}});
}

}  // namespace

std::vector<Tool> status_tools() {
  return {
      {"get_status",
       "Show the state of the store",
       "Shows what waits, runs and failed per generation, which workers are alive, which sinks take no "
       "deliveries, what nobody subscribes to, and "
       "what this server allows you to do. Use it first, and again before a replay: without a live worker that "
       "serves the event a replay only waits. Next: list_failure_clusters when there are failed events.",
       {},
       status_schema(),
       {},
       show_status},
      {"ladder_status",
       "Show how near the store is to its limits",
       "Shows each trigger of the ladder (partitions, a broker, another database) with its value, its threshold and "
       "since when it is above, and the step that is due, if any, with its command and what it costs. Use it when "
       "deliveries are slow or the store is large. It changes nothing, and you cannot take the step: tell a person "
       "the command.",
       {},
       ladder_schema(),
       {},
       show_ladder}};
}

}  // namespace sluice::mcp
