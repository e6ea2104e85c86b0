#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include <sluice/envelope.hpp>
#include "core/json.hpp"

namespace sluice {

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
  auto members = json::members(json, "envelope", {.depth = json::kMaxDepth});
  if (!members) return std::move(members).error();
  MemberReader reader{std::move(members).value()};
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
