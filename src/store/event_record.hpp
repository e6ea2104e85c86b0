// What is told of an event to people: its row, who has handled it, what was done to it; and how events are named.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/attempt.hpp"
#include "core/generation.hpp"
#include "core/payload_match.hpp"
#include "core/settle.hpp"
#include "core/status.hpp"

namespace sluice::store {

/// Who asks, through what, and why: goes into the audit.
struct Actor {
  std::string name;     ///< `alice@example.com`, `sql-direct`
  std::string surface;  ///< sql, cli, http, console, mcp
  std::string reason;
};

/// A whole outbox row.
struct EventRecord {
  EventEnvelope envelope;
  std::int64_t seq = 0;
  std::string content_class;
  std::string channel;
  Generation generation = 0;
  Status status = Status::pending;
  int attempts = 0;
  std::optional<std::string> last_error;
  std::optional<std::string> error_class;
  std::optional<std::string> fingerprint;
  std::optional<Timestamp> first_failed_at;
  std::string failure_history = "[]";  ///< JSON text
  std::optional<Timestamp> claimed_at;
  std::optional<std::string> claimed_by;
  std::int64_t claim_seq = 0;
  std::optional<Timestamp> retry_after;
  std::optional<std::string> ordering_key;
  Timestamp published_at{};
  std::optional<Timestamp> delivered_at;
  std::optional<Timestamp> failed_at;  ///< since the last replay
  std::optional<Timestamp> deleted_at;
  std::vector<HandlerProgress> progress;    ///< the handlers still to run, where the event has several
  std::optional<std::string> unreadable{};  ///< why the payload is not shown (it is then `null`)
};

/// The first and the last id that begin with these hexadecimal digits.
struct IdRange {
  Uuid first;
  Uuid last;
};
inline Result<IdRange> ids_beginning(const std::string& digits) {
  const auto filled = [&](char with) {
    std::string text = digits + std::string(32 - std::min<std::size_t>(digits.size(), 32), with);
    for (const std::size_t place : {8U, 13U, 18U, 23U}) text.insert(place, 1, '-');
    return Uuid::parse(text, "id");
  };
  const auto first = filled('0');
  const auto last = filled('f');
  if (!first) return first.error();
  return IdRange{*first, *last};
}

struct HandledKey {
  std::string handler_name;
  std::string idempotency_key;
  auto operator<=>(const HandledKey&) const =
      default;  // NOLINT(modernize-use-nullptr): a defaulted comparison has none
};

struct HandledRecord {
  HandledKey key;
  Timestamp handled_at{};
};

struct AuditRecord {
  std::int64_t id = 0;
  Timestamp at{};
  Actor actor;
  std::string action;  ///< replay, discard, restore, generation.activate, …
  std::optional<Uuid> event_id;
  std::int64_t count = 0;
  std::string detail = "{}";  ///< JSON text
};

/// An entry of the attempt log.
struct AttemptRecord {
  int number = 0;              ///< counts from 1, over all replays; what was dropped in between leaves a gap
  std::int64_t claim_seq = 0;  ///< 0: by a consumer of a broker
  std::int64_t replay = 0;     ///< how often the event had been replayed by then
  Attempt attempt;
};

/// Empty members match everything.
struct AuditFilter {
  std::string actor;
  std::string surface;
  std::string action;  ///< exact, or a prefix followed by `*`
  std::optional<Uuid> event_id;
  std::optional<Timestamp> since;
  std::optional<Timestamp> until;
};

/// Which events are meant: one object for lists, counts, groups and changes. Empty members match everything.
struct EventFilter {
  std::optional<Uuid> id;
  std::optional<Status> status;
  bool include_deleted = false;
  std::string event_type;  ///< exact, or a prefix followed by `*`; empty = any
  std::string source;
  std::string target;
  std::optional<Generation> generation;
  std::optional<Uuid> workspace_id;
  std::string error_class;  ///< whatever its case, with or without a final `Error`: `timeout` finds TimeoutError
  std::string fingerprint;
  std::string ordering_key;
  std::string text;                    ///< somewhere in last_error, whatever its case
  std::optional<Timestamp> since;      ///< occurred_at, not before; of dead letters: failed_at
  std::optional<Timestamp> until;      ///< before
  std::vector<Uuid> except;            ///< of dead letters: not these
  bool heads_only = false;             ///< of lists: payloads are not read; they are `null`
  std::vector<PayloadTerm> payload{};  ///< all of these
  std::string trace_id{};              ///< of the trace context: 32 hexadecimal digits in lower case
  bool oldest_first = false;           ///< of lists: the other way round; a page goes on in the order of the one before

  /// Whether it asks for what only an optional index (SearchIndex) can find.
  [[nodiscard]] bool searches() const { return !payload.empty() || !trace_id.empty(); }
};

struct EventPage {
  std::vector<EventRecord> events;   ///< newest first (by insert order), or oldest first
  std::optional<std::int64_t> next;  ///< pass as `after` for the next page
};

/// A place in the list of dead letters, which runs from the newest failure to the oldest or back.
struct DeadCursor {
  Timestamp failed_at{};
  std::int64_t seq = 0;

  bool operator==(const DeadCursor&) const = default;
};

struct DeadPage {
  std::vector<EventRecord> events;
  std::optional<DeadCursor> next;  ///< none: this was the last page
};

/// Dead letters that failed in the same way: one event type, source, target, error class and fingerprint.
struct FailureGroup {
  std::string event_type;
  std::string source;
  std::optional<std::string> target;
  std::string error_class;
  std::string fingerprint;
  std::string sample_error;     ///< the first error of the group, as it was
  std::int64_t count = 0;       ///< dead letters that match the filter
  Timestamp first_failed_at{};  ///< of these
  Timestamp last_failed_at{};
  Generation first_generation = 0;
  Generation last_generation = 0;
  Timestamp first_seen_at{};  ///< when an event failed like this for the first time ever
  std::int64_t replayed = 0;  ///< events of the group that were ever replayed
  std::optional<Timestamp> acknowledged_at;
  std::string acknowledged_by;
  std::string acknowledged_reason;
  std::int64_t came_back = 0;                      ///< of `count`: failed after the acknowledgement
  std::optional<Generation> came_back_generation;  ///< of the newest of these
};

/// An event for one of its handlers, again.
struct HandlerReplay {
  Uuid event_id;
  std::string handler_name;      ///< must subscribe to the event in `generation`
  Status from = Status::failed;  ///< failed: a dead letter is replayed; delivered: it is sent again
  Generation generation = 0;     ///< that gets it
};

/// A dead letter with another payload.
struct EditedReplay {
  Uuid event_id;
  std::string payload;        ///< a JSON object
  Generation generation = 0;  ///< that gets it
  std::int64_t most = 0;      ///< bytes that its history may have: it keeps every payload before
};

/// Stretches of time, one behind the other.
struct HistogramGrid {
  Timestamp from{};  ///< a whole second
  Duration step = std::chrono::seconds{1};
  int stretches = 0;

  [[nodiscard]] Timestamp until() const { return from + step * stretches; }
};

/// The filter, and nothing outside of the grid.
inline EventFilter within(EventFilter filter, const HistogramGrid& grid) {
  filter.since = std::max(filter.since.value_or(grid.from), grid.from);
  filter.until = std::min(filter.until.value_or(grid.until()), grid.until());
  return filter;
}

struct ReplayReport {
  Uuid event_id;
  int cycle = 0;  ///< which replay of the event this was, 1 for the first
  int attempts = 0;
  Generation from_generation = 0;
  Generation to_generation = 0;
};

}  // namespace sluice::store
