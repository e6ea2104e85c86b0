// EventEnvelope: what travels. A frozen value: once made it is valid and does not change.
//
// Thread-safety: immutable, share freely; a copy shares what it copies.
//
// The payload is JSON text: Sluice checks that it is a well-formed object and never re-encodes it. SQLite
// keeps the bytes; PostgreSQL's jsonb keeps the values: it sorts members, has white space of its own, and
// writes 1E5 as 100000 and -0 as 0. Numbers beyond 64 bits and decimals lose no digit in either. What one of
// them could not keep is refused for both: a member that comes twice, a number of too many digits.
//
// The generation is not part of the envelope: it is a property of the outbox row.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>

namespace sluice {

/// The parts of an envelope before they are checked.
struct EnvelopeDraft {
  Uuid event_id;                      ///< required; make it with UuidV7Sequence
  std::string event_type;             ///< required, `platform.scan.completed`
  int event_version = 1;              ///< at least 1
  Timestamp occurred_at{};            ///< required
  std::string source;                 ///< producing context, `[a-z][a-z0-9_]*`
  std::optional<std::string> target;  ///< receiving context; none = broadcast
  std::optional<Uuid> workspace_id;
  std::string payload = "{}";                  ///< a JSON object, as text
  std::optional<std::string> idempotency_key;  ///< default: the event id as text
  std::optional<std::string> trace_context;    ///< W3C traceparent
};

struct EnvelopeLimits {
  std::size_t payload_bytes = std::size_t{256} * 1024;  ///< a larger payload is refused; 1e9 counts as ten digits
  int payload_depth = 64;                               ///< nesting of objects and arrays
};

class EventEnvelope {
 public:
  /// Checks every field; the error names the first bad one and says what is expected.
  static Result<EventEnvelope> make(EnvelopeDraft draft, const EnvelopeLimits& limits = {});

  /// The JSON form below. Unknown members are ignored; `event_id` and `occurred_at` must be there.
  static Result<EventEnvelope> from_json(std::string_view json, const EnvelopeLimits& limits = {});

  /// For rows read back from a store, which checked them when they were written.
  static EventEnvelope trusted(EnvelopeDraft draft);

  [[nodiscard]] const Uuid& event_id() const { return fields_->event_id; }
  [[nodiscard]] const std::string& event_type() const { return fields_->event_type; }
  [[nodiscard]] int event_version() const { return fields_->event_version; }
  [[nodiscard]] Timestamp occurred_at() const { return fields_->occurred_at; }
  [[nodiscard]] const std::string& source() const { return fields_->source; }
  [[nodiscard]] const std::optional<std::string>& target() const { return fields_->target; }
  [[nodiscard]] const std::optional<Uuid>& workspace_id() const { return fields_->workspace_id; }
  [[nodiscard]] const std::string& payload() const { return fields_->payload; }
  [[nodiscard]] const std::string& idempotency_key() const { return *fields_->idempotency_key; }
  [[nodiscard]] const std::optional<std::string>& trace_context() const { return fields_->trace_context; }

  /// The same event with another trace context, which is a W3C traceparent.
  [[nodiscard]] EventEnvelope with_trace_context(std::string traceparent) const;

  /// One line, fixed member order, absent optionals as null, payload verbatim except that line
  /// breaks between its tokens become spaces:
  /// event_id, event_type, event_version, occurred_at, source, target, workspace_id, payload,
  /// idempotency_key, trace_context.
  [[nodiscard]] std::string to_json() const;

 private:
  explicit EventEnvelope(EnvelopeDraft&& fields) : fields_(std::make_shared<const EnvelopeDraft>(std::move(fields))) {}
  std::shared_ptr<const EnvelopeDraft> fields_;
};

}  // namespace sluice
