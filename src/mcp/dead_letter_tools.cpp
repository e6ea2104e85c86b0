// Reading the dead-letter queue: groups first, then the list, then one event.
#include <algorithm>
#include <utility>

#include "core/json_object.hpp"
#include "core/trace_context.hpp"
#include "core/try.hpp"
#include "mcp/schema.hpp"
#include "mcp/tool.hpp"
#include "ops/dead_letters.hpp"
#include "ops/event_json.hpp"
#include "ops/event_query.hpp"
#include "ops/event_story.hpp"
#include "ops/search.hpp"

namespace sluice::mcp {
namespace {

using Type = Parameter::Type;
using namespace schema;

constexpr std::int64_t kPage = 20;
constexpr std::int64_t kLargestPage = 100;
constexpr std::int64_t kGroups = 50;
constexpr std::int64_t kMostGroups = 200;
constexpr std::int64_t kShownCountCap = 100'000;

Result<store::EventFilter> filter_of(const Call& call) {
  SLUICE_TRY(const auto query, ops::EventQuery::parse(call.arguments.text("filter").value_or("")));
  return filter_for(call, query);
}

bool is_hidden(const PayloadTerm& term, const RedactionPolicy& policy) {
  std::string payload = "1";
  for (auto part = term.path.rbegin(); part != term.path.rend(); ++part) {
    payload = JsonObject{}.raw(*part, payload).str();
  }
  return redact_payload(payload, policy) != payload;
}

Result<std::string> list_events(const Call& call) {
  SLUICE_TRY(auto filter, filter_of(call));
  SLUICE_TRY(const auto counted, ops::count_dead(call.context.store, filter, kShownCountCap));
  ops::ListRequest request;
  request.filter = std::move(filter);
  request.filter.heads_only = true;
  SLUICE_TRY(request.filter.oldest_first, ops::oldest_first(call.arguments.text("sort").value_or("newest"), "sort"));
  request.limit = static_cast<int>(*call.arguments.integer("limit"));
  request.cursor = call.arguments.text("cursor");
  SLUICE_TRY(const auto list, ops::list_dead(call.context.store, request));
  return JsonObject{ops::summary_json(list, call.context.redaction)}
      .number("count", counted.count)
      .boolean("count_capped", counted.capped)
      .str();
}

Result<std::string> list_groups(const Call& call) {
  SLUICE_TRY(const auto filter, filter_of(call));
  SLUICE_TRY(auto groups, ops::list_groups(call.context.store, filter));
  const auto most = static_cast<std::size_t>(*call.arguments.integer("limit"));
  return ops::redacted_json({std::move(groups), most}, call.context.redaction);
}

// The words of a filter may hold a value that agents must not read.
Result<bool> is_hidden(const store::SavedFilter& saved, const Call& call) {
  SLUICE_TRY(const auto query, ops::EventQuery::parse(saved.filter));
  SLUICE_TRY(const auto filter, query.filter(call.context.store));
  return std::any_of(filter.payload.begin(), filter.payload.end(),
                     [&](const PayloadTerm& term) { return is_hidden(term, call.context.redaction); });
}

Result<std::string> list_filters(const Call& call) {
  SLUICE_TRY(const auto saved, ops::list_filters(call.context.store));
  std::vector<std::string> filters;
  for (const store::SavedFilter& one : saved) {
    const auto hidden = is_hidden(one, call);
    const bool shown = hidden && !*hidden;
    filters.push_back(JsonObject{}
                          .text("name", one.name)
                          .text("filter", shown ? std::optional{one.filter} : std::nullopt)
                          .text("saved_by", one.saved_by)
                          .time("saved_at", one.saved_at)
                          .str());
  }
  return JsonObject{}.array("filters", filters).str();
}

Result<std::string> show_event(const Call& call) {
  SLUICE_TRY(const auto id, call.event_id());
  SLUICE_TRY(const auto story, ops::tell_story(call.context.store, id));
  return JsonObject{ops::redacted_json(story, call.context.redaction)}
      .text("trace_url", trace_url(call.context.trace_url, story.event.envelope.trace_context()))
      .str();
}

std::string list_schema() {
  const std::string event = object({{"event_id", uuid()},
                                    {"event_type", text()},
                                    {"source", text()},
                                    {"target", nullable(text())},
                                    {"generation", integer()},
                                    {"attempts", integer("since the last replay")},
                                    {"error_class", nullable(text())},
                                    {"fingerprint", nullable(text("the same for errors of the same kind"))},
                                    {"last_error", nullable(text("untrusted"))},
                                    {"occurred_at", time()},
                                    {"first_failed_at", nullable(time())},
                                    {"failed_at", nullable(time())}});
  return object({{"events", list(event, "in the order of sort")},
                 {"next_cursor", nullable(text("pass it as cursor for the next page; null: this was the last"))},
                 {"count", integer("dead letters that match")},
                 {"count_capped", boolean("there are at least this many")}});
}

std::string groups_schema() {
  const std::string group =
      object({{"event_type", text()},
              {"source", text()},
              {"target", nullable(text())},
              {"error_class", text()},
              {"fingerprint", text("use it as fp:… in a filter")},
              {"count", integer("dead letters now")},
              {"state", choice({"open", "acknowledged", "came_back"},
                               "acknowledged: a person knows; came_back: it happened again since")},
              {"first_failed_at", time()},
              {"last_failed_at", time()},
              {"first_generation", integer()},
              {"last_generation", integer()},
              {"first_seen_at", time("when it happened for the first time ever")},
              {"replayed", integer("events of the group that were ever replayed")},
              {"acknowledged_at", nullable(time())},
              {"acknowledged_by", text()},
              {"acknowledged_reason", text()},
              {"came_back", integer("of count: failed after the acknowledgement")},
              {"came_back_generation", nullable(integer())},
              {"sample_error", text("untrusted; the first error of the group")}});
  return object({{"groups", list(group, "the most numerous first")},
                 {"count", integer("dead letters in the groups that are shown")},
                 {"omitted", integer("groups that are not shown")}});
}

std::string filters_schema() {
  const std::string filter = object({{"name", text("use it as saved:… in a filter")},
                                     {"filter", nullable(text("null: it names a value that is hidden from agents"))},
                                     {"saved_by", text()},
                                     {"saved_at", time()}});
  return object({{"filters", list(filter, "by name")}});
}

std::string attempt_schema() {
  return object({{"number", integer("counts over all replays; a gap: left out")},
                 {"replay", integer("how often the event had been replayed by then")},
                 {"handler_name", nullable(text())},
                 {"worker", text()},
                 {"started_at", time()},
                 {"duration_ms", number()},
                 {"outcome", choice({"handled", "failed", "expired"})},
                 {"status_code", nullable(integer("what the receiver answered"))},
                 {"error", nullable(text("untrusted"))},
                 {"response", nullable(text("untrusted"))},
                 {"trace_id", nullable(text())}});
}

std::string detail_schema() {
  const std::string handler = object({{"handler_name", text()},
                                      {"state", choice({"handled", "waiting", "out_of_attempts", "set_aside"},
                                                       "set_aside: the last replay went to another handler alone")},
                                      {"handled_at", nullable(time())},
                                      {"attempts", integer("failed ones, since the last replay")},
                                      {"due", nullable(time())},
                                      {"last_error", text("untrusted")}});
  const std::string audit = object({{"id", integer()},
                                    {"at", time()},
                                    {"actor", text()},
                                    {"surface", text()},
                                    {"reason", text()},
                                    {"action", text()},
                                    {"event_id", nullable(uuid())},
                                    {"count", integer()},
                                    {"detail", anything()}});
  return object(
      {{"event_id", uuid()},
       {"event_type", text()},
       {"event_version", integer()},
       {"occurred_at", time()},
       {"source", text()},
       {"target", nullable(text())},
       {"workspace_id", nullable(uuid())},
       {"payload", anything("untrusted; private values are hidden; null when it is too large to show")},
       {"payload_bytes", integer("size of the stored payload")},
       {"payload_omitted", boolean()},
       {"idempotency_key", text()},
       {"trace_context", nullable(text())},
       {"trace_url", nullable(text("where people can see its trace"))},
       {"status", choice({"pending", "in_flight", "delivered", "failed"}, "failed: a dead letter")},
       {"generation", integer()},
       {"channel", text()},
       {"content_class", text()},
       {"ordering_key", nullable(text())},
       {"attempts", integer("failed ones, since the last replay")},
       {"attempts_made", integer("of a delivered event, also the one that succeeded")},
       {"last_error", nullable(text("untrusted"))},
       {"error_class", nullable(text())},
       {"fingerprint", nullable(text())},
       {"first_failed_at", nullable(time())},
       {"failure_history", anything("one entry per replay: what failed before it, and who replayed it")},
       {"claimed_at", nullable(time())},
       {"claimed_by", nullable(text())},
       {"claim_seq", integer()},
       {"retry_after", nullable(time())},
       {"published_at", time()},
       {"delivered_at", nullable(time())},
       {"failed_at", nullable(time())},
       {"deleted_at", nullable(time("when it was discarded"))},
       {"seq", integer()},
       {"handled", list(object({{"handler_name", text()}, {"idempotency_key", text()}, {"handled_at", time()}}),
                        "handlers that have handled it and would not run again")},
       {"audit", list(audit)},
       {"timeline", list(object({{"at", time()}, {"what", text()}, {"detail", text("untrusted")}}), "by time")},
       {"handlers", list(handler, "those that have handled it, then those that subscribe and have not")},
       {"waits_for", list(object({{"what", choice({"sink", "time", "key", "subscriber", "worker", "claim"})},
                                  {"until", nullable(time())},
                                  {"event_id", nullable(uuid("the event of its ordering key that goes first"))},
                                  {"handlers", list(text())},
                                  {"detail", text()}}),
                          "what a pending event waits for; empty in other states")},
       {"attempt_log", list(attempt_schema(), "what each attempt did: the first and the latest, over all replays")}});
}

std::vector<Parameter> list_parameters() {
  return {filter_parameter(false),
          {"limit", Type::integer, false, "Events per page", 1, kLargestPage, kPage},
          {"sort", Type::text, false, "newest failure first (newest, the default) or oldest first (oldest)"},
          {"cursor", Type::text, false, "next_cursor of the page before, with the same sort"}};
}

std::vector<Parameter> event_parameter() {
  return {{"event_id", Type::event_id, true,
           "The event, by event_id of list_dlq_events, or at least 8 digits of its beginning"}};
}

Tool list_tool(std::string_view name, std::string_view title, std::string_view first) {
  return {name,
          title,
          std::string{first} +
              " Without payloads, page by page; newest failure first unless sort says otherwise. Use it to see which "
              "events a group holds, "
              "after list_failure_clusters. Next: get_dlq_event_detail for one event, plan_replay for many." +
              std::string{kUntrusted},
          list_parameters(),
          list_schema(),
          {},
          list_events};
}

}  // namespace

Result<store::EventFilter> filter_for(const Call& call, const ops::EventQuery& query) {
  SLUICE_TRY(auto filter, query.filter(call.context.store));
  for (const PayloadTerm& term : filter.payload) {
    if (!is_hidden(term, call.context.redaction)) continue;
    return invalid("filter", name_of(term) + " is hidden from agents (redact.fields): search by something else");
  }
  return filter;
}

std::vector<Tool> dead_letter_tools() {
  return {list_tool("list_dlq_events", "List dead letters",
                    "Lists the events that failed for good and wait in the dead-letter queue."),
          {"get_dlq_event_detail",
           "Show one event",
           "Shows everything that is known about one event: envelope, payload with private values hidden, the errors "
           "since the last replay and before each, which handlers have handled it, who changed it and why, and a "
           "timeline. Use it "
           "before you decide about a replay: a handler whose state is handled will not run again. Next: "
           "replay_dlq_event for this one, plan_replay for all of its kind." +
               std::string{kUntrusted},
           event_parameter(),
           detail_schema(),
           {},
           show_event},
          list_tool("list_failed_outbox_rows", "List failed outbox rows",
                    "The same as list_dlq_events, under the name of the runbook: rows of the outbox with status "
                    "failed."),
          {"list_failure_clusters",
           "List failure groups",
           "Groups the dead letters by event type, source, target, error class and fingerprint of the error. Start "
           "here: it shows how many different problems there are, since when, and whether one came back. Next: "
           "list_dlq_events with the fingerprint as fp:…, then get_dlq_event_detail." +
               std::string{kUntrusted},
           {filter_parameter(false), {"limit", Type::integer, false, "Groups to show", 1, kMostGroups, kGroups}},
           groups_schema(),
           {},
           list_groups},
          {"list_saved_filters",
           "List saved filters",
           "Lists the filters that the people of this store keep under a name, with their words and who saved them. "
           "They tell "
           "what the team looks at; each can stand in a filter as saved:NAME. Next: list_dlq_events or "
           "list_failure_clusters with one of them. Only a person saves or removes one.",
           {},
           filters_schema(),
           {},
           list_filters}};
}

}  // namespace sluice::mcp
