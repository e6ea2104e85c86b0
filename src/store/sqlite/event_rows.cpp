#include "store/sqlite/event_rows.hpp"

namespace sluice::store::sqlite {

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

}  // namespace sluice::store::sqlite
