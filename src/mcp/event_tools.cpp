// Changes of one event that is no dead letter, or of one handler's part in it.
#include <string>
#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "mcp/schema.hpp"
#include "mcp/tool.hpp"
#include "ops/dead_letters.hpp"

namespace sluice::mcp {
namespace {

using namespace schema;
using Type = Parameter::Type;

// A change lets something run again, so that it counts like a replay; a lost answer too.
template <class Report>
Result<std::string> counted_change(const Call& call, Result<Report> (*change)(const Call&, const Uuid& id)) {
  Allowance& allowance = call.context.allowance;
  SLUICE_CHECK(allowance.check_rows(1));
  SLUICE_TRY(const auto id, call.event_id());
  auto report = change(call, id);
  if (report || report.error().retry == Retry::in_doubt) allowance.spend(1);
  if (!report) {
    Error error = std::move(report).error();
    if (error.hint.empty() && error.code == ErrorCode::conflict)
      error.hint = "call get_dlq_event_detail: its state changed";
    return error;
  }
  return JsonObject{ops::to_json(*report)}.number("rows_left", allowance.rows_left()).str();
}

Result<std::string> run_now(const Call& call) {
  return counted_change<ops::PendingChange>(
      call, [](const Call& at, const Uuid& id) { return ops::run_now(at.context.store, id, at.audited()); });
}

Result<std::string> reschedule(const Call& call) {
  return counted_change<ops::PendingChange>(call, [](const Call& at, const Uuid& id) {
    return ops::reschedule(at.context.store, id, *at.arguments.text("at"), at.audited());
  });
}

Result<std::string> cancel(const Call& call) {
  return counted_change<ops::PendingChange>(
      call, [](const Call& at, const Uuid& id) { return ops::cancel_event(at.context.store, id, at.audited()); });
}

Result<std::string> resend(const Call& call) {
  return counted_change<store::ReplayReport>(call, [](const Call& at, const Uuid& id) {
    return ops::resend_event(at.context.store,
                             {id, *at.arguments.text("handler"), at.arguments.integer("to_generation")}, at.audited(),
                             at.context.tracer);
  });
}

Result<std::string> edit_replay(const Call& call) {
  return counted_change<store::ReplayReport>(call, [](const Call& at, const Uuid& id) {
    return ops::replay_edited(at.context.store, at.context.edit,
                              {id, *at.arguments.text("payload"), at.to_generation(), nullptr}, at.audited(),
                              at.context.tracer);
  });
}

std::string pending_schema() {
  return object({{"event_id", uuid()},
                 {"status", choice({"pending"})},
                 {"cancelled", boolean("no worker takes it any more")},
                 {"due", nullable(time("when a worker may take it; null: it is cancelled"))},
                 {"rows_left", integer("events that this server may still change")}});
}

std::string sent_schema() {
  return object({{"event_id", uuid()},
                 {"status", choice({"pending"}, "it waits for a worker now")},
                 {"cycle", integer("which replay of the event this is, 1 for the first")},
                 {"attempts", integer("before it")},
                 {"from_generation", integer()},
                 {"to_generation", integer()},
                 {"rows_left", integer("events that this server may still change")}});
}

Parameter id_parameter() {
  return {"event_id", Type::event_id, true, "The event, by its id or at least 8 digits of its beginning"};
}
Parameter why_parameter() { return {"reason", Type::reason, true, kReasonWords}; }
constexpr Annotations kRuns{.read_only = false, .destructive = true, .idempotent = false, .open_world = true};

}  // namespace

std::vector<Tool> event_tools() {
  return {
      {"run_event_now",
       "Run a pending event now",
       "Makes a pending event due at once: one that is scheduled for later, or that waits for its next retry. Its "
       "attempts stay as they are. Use it when the cause of its failures is gone and nobody wants to wait. Refused in "
       "any other state, and while an earlier event of its ordering key goes first. Next: get_dlq_event_detail until "
       "status is delivered or failed.",
       {id_parameter(), why_parameter()},
       pending_schema(),
       kRuns,
       run_now},
      {"reschedule_event",
       "Reschedule a pending event",
       "Makes a pending event due at another time, with every handler of it that still waits. Events of its ordering "
       "key behind it wait as well. Refused in any other state.",
       {id_parameter(),
        {"at", Type::text, true, "A time in the future like 2026-04-25T01:43:02Z, or a duration from now like 2h"},
        why_parameter()},
       pending_schema(),
       {.read_only = false, .destructive = false, .idempotent = true, .open_world = false},
       reschedule},
      {"cancel_event",
       "Cancel a pending event",
       "Takes a pending event out of delivery: no handler gets it, and events behind it in its ordering key go on. A "
       "person can restore it until retention removes it. Ask the person you work for first. Refused when a worker has "
       "it already.",
       {id_parameter(), why_parameter()},
       pending_schema(),
       {.read_only = false, .destructive = true, .idempotent = false, .open_world = false},
       cancel},
      {"resend_event",
       "Send a delivered event again",
       "Sends a delivered event to one of its handlers again: that handler runs once more, with whatever it does "
       "outside, and no other. Use it when a receiver lost what it was sent. For a dead letter use replay_dlq_event "
       "with "
       "handler.",
       {id_parameter(),
        {"handler", Type::text, true, "handler_name, one of handlers in get_dlq_event_detail"},
        why_parameter(),
        {"to_generation", Type::integer, false,
         "The generation whose workers get it; left out: that of the event, unless retired", 1}},
       sent_schema(),
       kRuns,
       resend},
      {"edit_and_replay_event",
       "Replay a dead letter with another payload",
       "Replaces the payload of a dead letter and replays it in place; the history keeps the payload before. Off "
       "unless "
       "this server was set up to allow it. Show the person you work for both payloads before you call it. Handlers "
       "that "
       "have handled the event do not run again.",
       {id_parameter(),
        {"payload", Type::object, true, "What the event carries from now on, the whole object"},
        why_parameter(),
        {"to_generation", Type::integer, false, kGenerationWords, 1}},
       sent_schema(),
       kRuns,
       edit_replay}};
}

}  // namespace sluice::mcp
