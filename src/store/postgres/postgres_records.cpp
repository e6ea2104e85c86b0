#include "store/postgres/postgres_records.hpp"

#include <string_view>

#include "core/json.hpp"

namespace sluice::store {
namespace {

class Members {
 public:
  Members& text(std::string_view name, std::string_view value) {
    if (value.empty()) return *this;
    begin(name);
    json::append_quoted(body_, value);
    return *this;
  }
  Members& ids(std::string_view name, const std::vector<Uuid>& ids) {
    if (ids.empty()) return *this;
    begin(name);
    char separator = '[';
    for (const Uuid& id : ids) {
      body_ += separator;
      json::append_quoted(body_, id.to_string());
      separator = ',';
    }
    body_ += ']';
    return *this;
  }
  [[nodiscard]] std::string str() const { return body_ + '}'; }

 private:
  void begin(std::string_view name) {
    body_ += body_.size() > 1 ? "," : "";
    json::append_quoted(body_, name);
    body_ += ':';
  }
  std::string body_ = "{";
};

std::string text_of(const std::optional<Timestamp>& at) { return at ? to_iso8601(*at) : std::string{}; }
std::string text_of(const std::optional<Uuid>& id) { return id ? id->to_string() : std::string{}; }

}  // namespace

pq::Params& add(pq::Params& params, const Actor& actor) {
  return params.text(std::string_view{actor.name})
      .text(std::string_view{actor.surface})
      .text(std::string_view{actor.reason});
}

std::vector<HandlerProgress> progress_column(const pq::Rows& rows, int row, int column) {
  if (rows.is_null(row, column)) return {};
  auto progress = progress_from_json(rows.jsonb(row, column));
  // Written by this code or by nobody: what cannot be read is what an event without history has.
  return progress ? *std::move(progress) : std::vector<HandlerProgress>{};
}

EventRecord event_record(const pq::Rows& rows, int row) {
  int column = 0;
  const auto next = [&column] { return column++; };
  EnvelopeDraft draft;
  draft.event_id = rows.uuid(row, next());
  const std::int64_t seq = rows.int8(row, next());
  draft.event_type = rows.text(row, next());
  draft.event_version = rows.int4(row, next());
  draft.occurred_at = rows.timestamptz(row, next());
  draft.source = rows.text(row, next());
  draft.target = rows.optional_text(row, next());
  draft.workspace_id = rows.optional_uuid(row, next());
  const int payload = next();
  const bool readable = !rows.is_null(row, payload);
  draft.payload = readable ? rows.text(row, payload) : "null";
  draft.idempotency_key = std::string{rows.text(row, next())};
  draft.trace_context = rows.optional_text(row, next());

  EventRecord record{.envelope = EventEnvelope::trusted(std::move(draft))};
  record.seq = seq;
  record.content_class = rows.text(row, next());
  record.channel = rows.text(row, next());
  record.generation = rows.int8(row, next());
  record.status = parse_status(rows.text(row, next())).value();
  record.attempts = rows.int4(row, next());
  record.last_error = rows.optional_text(row, next());
  record.error_class = rows.optional_text(row, next());
  record.fingerprint = rows.optional_text(row, next());
  record.first_failed_at = rows.optional_timestamptz(row, next());
  record.failure_history = rows.jsonb(row, next());
  record.claimed_at = rows.optional_timestamptz(row, next());
  record.claimed_by = rows.optional_text(row, next());
  record.claim_seq = rows.int8(row, next());
  record.retry_after = rows.optional_timestamptz(row, next());
  record.ordering_key = rows.optional_text(row, next());
  record.published_at = rows.timestamptz(row, next());
  record.delivered_at = rows.optional_timestamptz(row, next());
  record.failed_at = rows.optional_timestamptz(row, next());
  record.deleted_at = rows.optional_timestamptz(row, next());
  record.progress = progress_column(rows, row, next());
  if (!readable) record.unreadable = payload_unreadable(std::nullopt);
  return record;
}

AuditRecord audit_record(const pq::Rows& rows, int row) {
  AuditRecord record;
  record.id = rows.int8(row, 0);
  record.at = rows.timestamptz(row, 1);
  record.actor = {std::string{rows.text(row, 2)}, std::string{rows.text(row, 3)}, std::string{rows.text(row, 4)}};
  record.action = rows.text(row, 5);
  record.event_id = rows.optional_uuid(row, 6);
  record.count = rows.int8(row, 7);
  record.detail = rows.jsonb(row, 8);
  return record;
}

AttemptRecord attempt_record(const pq::Rows& rows, int row) {
  AttemptRecord record;
  record.number = rows.int4(row, 0);
  record.claim_seq = rows.int8(row, 1);
  record.replay = rows.int4(row, 2);
  Attempt& attempt = record.attempt;
  attempt.handler_name = rows.text(row, 3);
  attempt.worker = rows.text(row, 4);
  attempt.started_at = rows.timestamptz(row, 5);
  attempt.took = Duration{rows.int8(row, 6)};
  attempt.outcome = attempt_outcome(rows.text(row, 7));
  attempt.status_code = rows.int4(row, 8);
  attempt.error = rows.text(row, 9);
  attempt.response = rows.text(row, 10);
  attempt.trace_id = rows.text(row, 11);
  return record;
}

Deployment deployment_record(const pq::Rows& rows, int row) {
  Deployment record;
  record.generation = rows.int8(row, 0);
  record.state = parse_generation_state(rows.text(row, 1)).value();
  record.note = rows.text(row, 2);
  record.changed_by = rows.text(row, 3);
  record.allocated_at = rows.timestamptz(row, 4);
  record.activated_at = rows.optional_timestamptz(row, 5);
  record.draining_at = rows.optional_timestamptz(row, 6);
  record.retired_at = rows.optional_timestamptz(row, 7);
  return record;
}

std::string filter_json(const EventFilter& filter) {
  const std::string_view type = filter.event_type;
  const bool prefix = type.ends_with('*');
  return Members{}
      .text("id", text_of(filter.id))
      .text("event_type", prefix ? std::string_view{} : type)
      .text("type_prefix", prefix ? type.substr(0, type.size() - 1) : std::string_view{})
      .text("source", filter.source)
      .text("target", filter.target)
      .text("generation", filter.generation ? std::to_string(*filter.generation) : std::string{})
      .text("workspace_id", text_of(filter.workspace_id))
      .text("error_class", filter.error_class)
      .text("fingerprint", filter.fingerprint)
      .text("ordering_key", filter.ordering_key)
      .text("text", filter.text)
      .text("since", text_of(filter.since))
      .text("until", text_of(filter.until))
      .ids("except", filter.except)
      .text("trace_id", filter.trace_id)
      .text("payload", payload_condition(filter.payload))
      .str();
}

bool names_groups(const EventFilter& filter) {
  return !filter.event_type.empty() || !filter.source.empty() || !filter.target.empty() ||
         !filter.error_class.empty() || !filter.fingerprint.empty();
}

}  // namespace sluice::store
