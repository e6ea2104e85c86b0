#include <sluice/envelope.hpp>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "core/characters.hpp"
#include "core/generation.hpp"
#include "core/json.hpp"
#include "core/try.hpp"
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

Result<void> check_payload(std::string_view payload, const EnvelopeLimits& limits, const json::Measure* measure) {
  if (payload.size() > limits.payload_bytes) {
    return invalid("payload", "payload must be at most " + std::to_string(limits.payload_bytes) + " bytes, not " +
                                  std::to_string(payload.size()));
  }
  const json::Limits allowed{.depth = limits.payload_depth, .stored_bytes = limits.payload_bytes};
  // What does not fit is read again, for the sentence that says where.
  if (measure != nullptr && measure->kind == json::Kind::object && measure->is_within(allowed)) return {};
  SLUICE_TRY(const auto kind, json::check(payload, "payload", allowed));
  if (kind != json::Kind::object) return invalid("payload", "payload must be a JSON object, like {\"n\":1}");
  return {};
}

Result<void> check_idempotency_key(std::string_view key) {
  if (key.empty())
    return invalid("idempotency_key", "idempotency_key must not be empty; leave it out to use the event id");
  if (key.size() > kIdempotencyKeyMaxBytes) {
    return invalid("idempotency_key", "idempotency_key must be at most 255 bytes, not " + std::to_string(key.size()));
  }
  if (std::any_of(key.begin(), key.end(), is_control)) {
    return invalid("idempotency_key", "idempotency_key must not contain control characters");
  }
  if (!utf8::is_valid(key)) return invalid("idempotency_key", "idempotency_key must be valid UTF-8");
  return {};
}

// In the order of the fields, so that the first bad one is the one that is named.
Result<void> check_fields(const EnvelopeDraft& draft, const EnvelopeLimits& limits,
                          const json::Measure* measure = nullptr) {
  if (draft.event_id.is_nil()) return invalid("event_id", "event_id must be set to a uuid that is not nil");
  SLUICE_CHECK(check_event_type(draft.event_type));
  if (draft.event_version < 1) {
    return invalid("event_version", "event_version must be at least 1, not " + std::to_string(draft.event_version));
  }
  SLUICE_CHECK(check_occurred_at(draft.occurred_at));
  SLUICE_CHECK(check_context(draft.source, "source"));
  if (draft.target) {
    SLUICE_CHECK(check_context(*draft.target, "target"));
  }
  SLUICE_CHECK(check_payload(draft.payload, limits, measure));
  if (draft.idempotency_key) {
    SLUICE_CHECK(check_idempotency_key(*draft.idempotency_key));
  }
  if (draft.trace_context) return check_trace_context(*draft.trace_context);
  return {};
}

}  // namespace

Result<EventEnvelope> EventEnvelope::make(EnvelopeDraft draft, const EnvelopeLimits& limits) {
  SLUICE_CHECK(check_fields(draft, limits));
  return trusted(std::move(draft));
}

Result<EventEnvelope> make_measured(EnvelopeDraft draft, const EnvelopeLimits& limits, const json::Measure& payload) {
  SLUICE_CHECK(check_fields(draft, limits, &payload));
  return EventEnvelope::trusted(std::move(draft));
}

EventEnvelope EventEnvelope::trusted(EnvelopeDraft draft) {
  if (!draft.idempotency_key) draft.idempotency_key = draft.event_id.to_string();
  return EventEnvelope{std::move(draft)};
}

EventEnvelope EventEnvelope::with_trace_context(std::string traceparent) const {
  EnvelopeDraft draft = *fields_;
  draft.trace_context = std::move(traceparent);
  return EventEnvelope{std::move(draft)};
}

namespace {

void append_name(std::string& out, std::string_view name) {
  out += out.empty() ? '{' : ',';
  json::append_quoted(out, name);
  out += ':';
}

void append_text(std::string& out, std::string_view name, std::string_view value) {
  append_name(out, name);
  json::append_quoted(out, value);
}

void append_text_or_null(std::string& out, std::string_view name, const std::optional<std::string>& value) {
  if (value) return append_text(out, name, *value);
  append_name(out, name);
  out += "null";
}

// Line breaks stand only between the tokens of a checked payload, where a space means the same.
void append_on_one_line(std::string& out, std::string_view payload) {
  const auto begin = static_cast<std::ptrdiff_t>(out.size());
  out += payload;
  std::replace_if(
      out.begin() + begin, out.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

// Reads the members of the JSON form by name and remembers the first that is wrong.
class MemberReader {
 public:
  explicit MemberReader(std::vector<json::Member> members) : members_(std::move(members)) {}

  [[nodiscard]] std::optional<std::string_view> raw(std::string_view name) const {
    const auto found = std::find_if(members_.begin(), members_.end(),
                                    [name](const json::Member& member) { return member.name == name; });
    if (found == members_.end()) return std::nullopt;
    return found->value;
  }

  std::optional<std::string> text(std::string_view name) {
    const auto value = raw(name);
    if (!value || *value == "null") return std::nullopt;
    return keep(json::string_value(*value, name));
  }

  std::optional<Uuid> uuid(std::string_view name) {
    const auto value = text(name);
    return value ? keep(Uuid::parse(*value, name)) : std::nullopt;
  }

  std::optional<Timestamp> time(std::string_view name) {
    const auto value = text(name);
    return value ? keep(parse_iso8601(*value, name)) : std::nullopt;
  }

  std::optional<int> integer(std::string_view name) {
    const auto value = raw(name);
    if (!value || *value == "null") return std::nullopt;
    int number = 0;
    const auto [end, status] = std::from_chars(value->data(), value->data() + value->size(), number);
    if (status == std::errc{} && end == value->data() + value->size()) return number;
    refuse(invalid(std::string{name}, std::string{name} + " must be a whole number"));
    return std::nullopt;
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  template <class T>
  std::optional<T> keep(Result<T> result) {
    if (result) return std::move(result).value();
    refuse(std::move(result).error());
    return std::nullopt;
  }

  void refuse(Error error) {
    if (!error_) error_ = std::move(error);
  }

  std::vector<json::Member> members_;
  std::optional<Error> error_;
};

}  // namespace

Result<EventEnvelope> EventEnvelope::from_json(std::string_view json, const EnvelopeLimits& limits) {
  // The payload's own depth is checked with the other fields, where the error names the payload.
  SLUICE_TRY(auto members, json::members(json, "envelope", {.depth = json::kMaxDepth}));
  MemberReader reader{std::move(members)};
  EnvelopeDraft draft;
  draft.event_id = reader.uuid("event_id").value_or(Uuid{});
  draft.event_type = reader.text("event_type").value_or("");
  draft.event_version = reader.integer("event_version").value_or(1);
  draft.occurred_at = reader.time("occurred_at").value_or(Timestamp{});
  draft.source = reader.text("source").value_or("");
  draft.target = reader.text("target");
  draft.workspace_id = reader.uuid("workspace_id");
  if (const auto payload = reader.raw("payload")) draft.payload = *payload;
  draft.idempotency_key = reader.text("idempotency_key");
  draft.trace_context = reader.text("trace_context");
  if (reader.error()) return *reader.error();
  return make(std::move(draft), limits);
}

std::string EventEnvelope::to_json() const {
  std::string out;
  out.reserve(fields_->payload.size() + 512);
  append_text(out, "event_id", fields_->event_id.to_string());
  append_text(out, "event_type", fields_->event_type);
  append_name(out, "event_version");
  out += std::to_string(fields_->event_version);
  append_text(out, "occurred_at", to_iso8601(fields_->occurred_at));
  append_text(out, "source", fields_->source);
  append_text_or_null(out, "target", fields_->target);
  append_text_or_null(out, "workspace_id",
                      fields_->workspace_id ? std::optional{fields_->workspace_id->to_string()} : std::nullopt);
  append_name(out, "payload");
  append_on_one_line(out, fields_->payload);
  append_text(out, "idempotency_key", idempotency_key());
  append_text_or_null(out, "trace_context", fields_->trace_context);
  out += '}';
  return out;
}

}  // namespace sluice
