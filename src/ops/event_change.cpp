#include "ops/event_change.hpp"

#include <utility>

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/audit.hpp"
#include "ops/generations.hpp"
#include "ops/publish_trace.hpp"

namespace sluice::ops {
namespace {

// So many payloads of the largest size may stand in the history of an event.
constexpr std::int64_t kKeptPayloads = 4;

Result<PendingChange> pending_now(store::Administering& store, const Uuid& id) {
  SLUICE_TRY(const auto event, store.get_event(id));
  if (event.deleted_at) return PendingChange{id, std::nullopt};
  return PendingChange{id, event.retry_after.value_or(event.published_at)};
}

Result<Generation> generation_for(store::Administering& store, const HandlerTarget& target, Status from) {
  if (target.to_generation) return *target.to_generation;
  if (from == Status::delivered) {
    SLUICE_TRY(const auto event, store.get_event(target.event_id));
    SLUICE_TRY(const bool retired, is_retired(store, event.generation));
    if (!retired) return event.generation;
  }
  return store.default_generation();
}

Result<store::ReplayReport> send_to(store::Administering& store, const HandlerTarget& target, Status from,
                                    const store::Actor& actor, Tracer* tracer) {
  SLUICE_CHECK(check_reason(actor.reason));
  if (target.handler_name.empty()) return invalid("handler", "handler must name the handler that gets the event");
  SLUICE_TRY(const auto generation, generation_for(store, target, from));
  return traced(tracer, store, target.event_id, from == Status::delivered ? "resend" : "replay", [&] {
    return store.send_to({target.event_id, target.handler_name, from, generation}, actor);
  });
}

}  // namespace

std::vector<std::string_view> actions_of(const store::EventRecord& event) {
  const bool deleted = event.deleted_at.has_value();
  switch (event.status) {
    case Status::pending:
      if (deleted) return {"restore"};
      // What is due already would not run any sooner.
      if (!event.retry_after && event.progress.empty()) return {"reschedule", "cancel"};
      return {"run_now", "reschedule", "cancel"};
    case Status::failed:
      if (deleted) return {"restore"};
      return {"replay", "edit_replay", "discard"};
    case Status::delivered:
      if (deleted) return {};
      return {"resend"};
    case Status::in_flight:
      break;
  }
  return {};
}

std::string to_json(const PendingChange& change) {
  return JsonObject{}
      .uuid("event_id", change.event_id)
      .text("status", "pending")
      .boolean("cancelled", !change.due)
      .time("due", change.due)
      .str();
}

Result<PendingChange> run_now(store::Administering& store, const Uuid& id, const store::Actor& actor) {
  SLUICE_CHECK(check_reason(actor.reason));
  SLUICE_CHECK(store.schedule(id, std::nullopt, actor));
  return pending_now(store, id);
}

Result<PendingChange> reschedule(store::Administering& store, const Uuid& id, const std::string& at,
                                 const store::Actor& actor, const std::string& field) {
  SLUICE_CHECK(check_reason(actor.reason));
  auto due = parse_iso8601(at, field);
  if (!due) {
    const auto later = parse_duration(at, field);
    if (!later) {
      return invalid(field,
                     field + ": `" + at + "` is neither a duration like 2h nor a time like 2026-04-25T01:43:02Z");
    }
    SLUICE_TRY(const auto now, store.now());
    due = now + *later;
  }
  auto done = store.schedule(id, *due, actor);
  if (!done) {
    Error error = std::move(done).error();
    if (error.field == "at") {
      error.field = field;
      if (error.message.starts_with("at:")) error.message.replace(0, 2, field);
    }
    return error;
  }
  return pending_now(store, id);
}

Result<PendingChange> cancel_event(store::Administering& store, const Uuid& id, const store::Actor& actor) {
  SLUICE_CHECK(check_reason(actor.reason));
  SLUICE_CHECK(store.cancel(id, actor));
  return PendingChange{id, std::nullopt};
}

Result<store::ReplayReport> resend_event(store::Administering& store, const HandlerTarget& target,
                                         const store::Actor& actor, Tracer* tracer) {
  return send_to(store, target, Status::delivered, actor, tracer);
}

Result<store::ReplayReport> replay_to_handler(store::Administering& store, const HandlerTarget& target,
                                              const store::Actor& actor, Tracer* tracer) {
  return send_to(store, target, Status::failed, actor, tracer);
}

Result<store::ReplayReport> replay_edited(store::Administering& store, const EditPolicy& policy,
                                          const EditRequest& request, const store::Actor& actor, Tracer* tracer) {
  if (!policy.enabled) {
    return Error{ErrorCode::forbidden, Retry::never, "payloads may not be changed here: edit_replay is off", "",
                 "an administrator can set edit_replay = true in the configuration; the history keeps every payload"};
  }
  SLUICE_CHECK(check_reason(actor.reason));
  SLUICE_TRY(const auto event, store.get_event(request.event_id));
  EnvelopeDraft draft;
  draft.event_id = request.event_id;
  draft.event_type = event.envelope.event_type();
  draft.event_version = event.envelope.event_version();
  draft.occurred_at = event.envelope.occurred_at();
  draft.source = event.envelope.source();
  draft.payload = request.payload;
  SLUICE_TRY(const auto edited, EventEnvelope::make(std::move(draft), policy.limits));
  const ContractEntry* contract = request.contracts != nullptr ? request.contracts->applied_to(edited) : nullptr;
  if (contract != nullptr) {
    const auto checked = check_payload(contract->contract, edited.payload());
    if (!checked)
      return invalid("payload", "the contract of " + edited.event_type() + " refuses it: " + checked.error().message);
  }
  Generation generation = request.to_generation.value_or(0);
  if (!request.to_generation) {
    SLUICE_TRY(generation, store.default_generation());
  }
  const std::int64_t most = kKeptPayloads * static_cast<std::int64_t>(policy.limits.payload_bytes);
  return traced(tracer, store, request.event_id, "replay", [&] {
    return store.replay_edited({request.event_id, edited.payload(), generation, most}, actor);
  });
}

}  // namespace sluice::ops
