#include <sluice/envelope.hpp>

#include <algorithm>
#include <utility>

#include "core/generation.hpp"
#include "core/json.hpp"
#include "core/utf8.hpp"

namespace sluice {

namespace {

constexpr std::size_t kIdempotencyKeyMaxBytes = 255;

Result<void> check_occurred_at(Timestamp at) {
  if (at == Timestamp{}) return invalid("occurred_at", "occurred_at must be set");
  const std::chrono::year_month_day date{std::chrono::floor<std::chrono::days>(at)};
  if (date.year() < std::chrono::year{1} || date.year() > std::chrono::year{9999}) {
    return invalid("occurred_at", "occurred_at must be between the years 0001 and 9999");
  }
  return {};
}

Result<void> check_payload(std::string_view payload, const EnvelopeLimits& limits) {
  if (payload.size() > limits.payload_bytes) {
    return invalid("payload", "payload must be at most " + std::to_string(limits.payload_bytes) + " bytes, not " +
                                  std::to_string(payload.size()));
  }
  const auto kind =
      json::check(payload, "payload", {.depth = limits.payload_depth, .stored_bytes = limits.payload_bytes});
  if (!kind) return kind.error();
  if (*kind != json::Kind::object) return invalid("payload", "payload must be a JSON object, like {\"n\":1}");
  return {};
}

Result<void> check_idempotency_key(std::string_view key) {
  if (key.empty())
    return invalid("idempotency_key", "idempotency_key must not be empty; leave it out to use the event id");
  if (key.size() > kIdempotencyKeyMaxBytes) {
    return invalid("idempotency_key", "idempotency_key must be at most 255 bytes, not " + std::to_string(key.size()));
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(key.begin(), key.end(), is_control)) {
    return invalid("idempotency_key", "idempotency_key must not contain control characters");
  }
  if (!utf8::is_valid(key)) return invalid("idempotency_key", "idempotency_key must be valid UTF-8");
  return {};
}

// In the order of the fields, so that the first bad one is the one that is named.
Result<void> check_fields(const EnvelopeDraft& draft, const EnvelopeLimits& limits) {
  if (draft.event_id.is_nil()) return invalid("event_id", "event_id must be set to a uuid that is not nil");
  if (auto checked = check_event_type(draft.event_type); !checked) return checked;
  if (draft.event_version < 1) {
    return invalid("event_version", "event_version must be at least 1, not " + std::to_string(draft.event_version));
  }
  if (auto checked = check_occurred_at(draft.occurred_at); !checked) return checked;
  if (auto checked = check_context(draft.source, "source"); !checked) return checked;
  if (draft.target) {
    if (auto checked = check_context(*draft.target, "target"); !checked) return checked;
  }
  if (auto checked = check_payload(draft.payload, limits); !checked) return checked;
  if (draft.idempotency_key) {
    if (auto checked = check_idempotency_key(*draft.idempotency_key); !checked) return checked;
  }
  if (draft.trace_context) return check_trace_context(*draft.trace_context);
  return {};
}

}  // namespace

Result<EventEnvelope> EventEnvelope::make(EnvelopeDraft draft, const EnvelopeLimits& limits) {
  if (auto checked = check_fields(draft, limits); !checked) return std::move(checked).error();
  return trusted(std::move(draft));
}

EventEnvelope EventEnvelope::trusted(EnvelopeDraft draft) {
  if (!draft.idempotency_key) draft.idempotency_key = draft.event_id.to_string();
  return EventEnvelope{std::move(draft)};
}

}  // namespace sluice
