#include "store/sqlite/sqlite_records.hpp"

#include "core/try.hpp"

namespace sluice::store::sqlite {
namespace {

template <class Value>
Value known(Row& row, const std::optional<Value>& parsed, std::string_view text) {
  if (!parsed) row.damaged("'" + std::string{text} + "' is unknown");
  return parsed.value_or(Value{});
}

OperationSettings read_settings(Row& row) {
  OperationSettings settings;
  settings.rate = static_cast<int>(row.integer());
  settings.canary = static_cast<int>(row.integer());
  settings.stop_percent = static_cast<int>(row.integer());
  return settings;
}

OperationCounts read_counts(Row& row) {
  OperationCounts counts;
  counts.total = row.integer();
  counts.taken = row.integer();
  counts.delivered = row.integer();
  counts.failed_again = row.integer();
  counts.skipped = row.integer();
  counts.changed = row.integer();
  return counts;
}

}  // namespace

std::vector<HandlerProgress> read_progress(Row& row) {
  auto progress = progress_from_json(row.view());
  if (progress) return *std::move(progress);
  row.damaged(progress.error().message);
  return {};
}

namespace {

// A row that cannot be read whole must not stop the rest: it is told with what is wrong, as long as it has an id.
EventEnvelope read_envelope(Row& row, std::optional<std::string>& unreadable) {
  EnvelopeDraft draft;
  draft.event_id = row.uuid();
  draft.event_type = row.text();
  draft.event_version = static_cast<int>(row.integer());
  draft.occurred_at = row.timestamp();
  draft.source = row.text();
  draft.target = row.optional_text();
  draft.workspace_id = row.optional_uuid();
  const std::string_view payload = row.view();
  if (static_cast<std::int64_t>(payload.size()) > kReadablePayloadBytes) {
    unreadable = payload_unreadable(static_cast<std::int64_t>(payload.size()));
    draft.payload = "null";
  } else {
    draft.payload = payload;
  }
  draft.idempotency_key = row.optional_text();
  draft.trace_context = row.optional_text();
  if (!draft.event_id.is_nil()) {
    if (auto damage = row.take_damage()) unreadable = std::move(damage->message);
  }
  return EventEnvelope::trusted(std::move(draft));
}

}  // namespace

Status read_status(Row& row) {
  const std::string_view text = row.view();
  const auto status = parse_status(text);
  if (!status) row.damaged("status '" + std::string{text} + "' is unknown");
  return status.value_or(Status::pending);
}

EventRecord read_event(Row& row) {
  const std::int64_t seq = row.integer();
  std::string content_class = row.text();
  std::string channel = row.text();
  const Generation generation = row.integer();
  const Status status = read_status(row);
  const int attempts = static_cast<int>(row.integer());
  auto last_error = row.optional_text();
  auto error_class = row.optional_text();
  auto fingerprint = row.optional_text();
  const auto first_failed_at = row.optional_timestamp();
  std::string failure_history = row.text();
  const auto claimed_at = row.optional_timestamp();
  auto claimed_by = row.optional_text();
  const std::int64_t claim_seq = row.integer();
  const auto retry_after = row.optional_timestamp();
  auto ordering_key = row.optional_text();
  const Timestamp published_at = row.timestamp();
  const auto delivered_at = row.optional_timestamp();
  const auto failed_at = row.optional_timestamp();
  const auto deleted_at = row.optional_timestamp();
  auto progress = read_progress(row);
  std::optional<std::string> unreadable;
  EventEnvelope envelope = read_envelope(row, unreadable);
  return EventRecord{.envelope = std::move(envelope),
                     .seq = seq,
                     .content_class = std::move(content_class),
                     .channel = std::move(channel),
                     .generation = generation,
                     .status = status,
                     .attempts = attempts,
                     .last_error = std::move(last_error),
                     .error_class = std::move(error_class),
                     .fingerprint = std::move(fingerprint),
                     .first_failed_at = first_failed_at,
                     .failure_history = std::move(failure_history),
                     .claimed_at = claimed_at,
                     .claimed_by = std::move(claimed_by),
                     .claim_seq = claim_seq,
                     .retry_after = retry_after,
                     .ordering_key = std::move(ordering_key),
                     .published_at = published_at,
                     .delivered_at = delivered_at,
                     .failed_at = failed_at,
                     .deleted_at = deleted_at,
                     .progress = std::move(progress),
                     .unreadable = std::move(unreadable)};
}

ClaimedEvent read_candidate(Row& row, Generation generation, Timestamp now) {
  const std::int64_t seq = row.integer();
  const std::int64_t claim_seq = row.integer() + 1;
  const int attempts = static_cast<int>(row.integer());
  std::string channel = row.text();
  auto ordering_key = row.optional_text();
  auto progress = read_progress(row);
  std::optional<std::string> unreadable;
  EventEnvelope envelope = read_envelope(row, unreadable);
  ClaimRef claim{envelope.event_id(), claim_seq, static_cast<std::uint64_t>(seq), 0};
  return ClaimedEvent{.envelope = std::move(envelope),
                      .claim = claim,
                      .generation = generation,
                      .channel = std::move(channel),
                      .ordering_key = std::move(ordering_key),
                      .attempts = attempts,
                      .claimed_at = now,
                      .progress = std::move(progress),
                      .unreadable = std::move(unreadable)};
}

AuditRecord read_audit(Row& row) {
  AuditRecord record;
  record.id = row.integer();
  record.at = row.timestamp();
  record.actor.name = row.text();
  record.actor.surface = row.text();
  record.actor.reason = row.text();
  record.action = row.text();
  record.event_id = row.optional_uuid();
  record.count = row.integer();
  record.detail = row.text();
  return record;
}

AttemptRecord read_attempt(Row& row) {
  AttemptRecord record;
  record.number = static_cast<int>(row.integer());
  record.claim_seq = row.integer();
  record.replay = row.integer();
  Attempt& attempt = record.attempt;
  attempt.handler_name = row.text();
  attempt.worker = row.text();
  attempt.started_at = row.timestamp();
  attempt.took = Duration{row.integer()};
  attempt.outcome = attempt_outcome(row.text());
  attempt.status_code = static_cast<int>(row.integer());
  attempt.error = row.text();
  attempt.response = row.text();
  attempt.trace_id = row.text();
  return record;
}

Deployment read_deployment(Row& row) {
  Deployment deployment;
  deployment.generation = row.integer();
  const std::string_view state = row.view();
  const auto known = parse_generation_state(state);
  if (!known) row.damaged("state '" + std::string{state} + "' is unknown");
  deployment.state = known.value_or(GenerationState::allocated);
  deployment.note = row.text();
  deployment.changed_by = row.text();
  deployment.allocated_at = row.timestamp();
  deployment.activated_at = row.optional_timestamp();
  deployment.draining_at = row.optional_timestamp();
  deployment.retired_at = row.optional_timestamp();
  return deployment;
}

OperationRecord read_operation(Row& row) {
  OperationRecord operation;
  operation.id = row.uuid();
  const std::string_view kind = row.view();
  operation.progress.kind = known(row, parse_operation_kind(kind), kind);
  const std::string_view state = row.view();
  operation.progress.state = known(row, parse_operation_state(state), state);
  operation.filter = row.text();
  operation.to_generation = row.optional_integer();
  operation.progress.settings = read_settings(row);
  operation.progress.counts = read_counts(row);
  operation.progress.paced_at = row.optional_timestamp();
  operation.actor.name = row.text();
  operation.actor.surface = row.text();
  operation.actor.reason = row.text();
  operation.note = row.text();
  operation.executor = row.text();
  operation.planned_at = row.timestamp();
  operation.expires_at = row.timestamp();
  operation.started_at = row.optional_timestamp();
  operation.ended_at = row.optional_timestamp();
  return operation;
}

Result<EventRecord> find_event(Connection& connection, const Uuid& id) {
  SLUICE_TRY(auto event, connection.first(sql::event_get, {{":heads_only", false}, {":id", id}}, read_event));
  if (!event) return Error{ErrorCode::not_found, Retry::never, "there is no event " + id.to_string(), "id", {}};
  return *std::move(event);
}

Result<OperationRecord> find_operation(Connection& connection, const Uuid& id) {
  SLUICE_TRY(auto found, connection.first(sql::operation_get, {{":id", id}}, read_operation));
  if (!found) {
    return Error{ErrorCode::not_found, Retry::never, "there is no operation " + id.to_string(), "operation_id", {}};
  }
  return *std::move(found);
}

Error wrong_state(const OperationRecord& operation, std::string_view rule) {
  return Error{ErrorCode::conflict,
               Retry::never,
               "operation " + operation.id.to_string() + " is " + std::string{name(operation.progress.state)} + ": " +
                   std::string{rule},
               "operation_id",
               {}};
}

Result<OperationRecord> held_operation(Connection& connection, const Uuid& id, const std::string& executor,
                                       Timestamp now) {
  auto operation = find_operation(connection, id);
  if (!operation) return operation;
  if (operation->progress.state != OperationState::running) {
    return wrong_state(*operation, "only a running one can be carried out");
  }
  SLUICE_TRY(auto holds, connection.first(sql::operation_holds, {{":id", id}, {":executor", executor}, {":now", now}},
                                          [](Row& row) { return row.integer(); }));
  if (!holds) {
    return Error{ErrorCode::conflict, Retry::never, "operation " + id.to_string() + " is not held by " + executor,
                 "operation_id", "hold it first"};
  }
  return operation;
}

bool takes_discarded(OperationKind kind) { return kind == OperationKind::restore; }

}  // namespace sluice::store::sqlite
