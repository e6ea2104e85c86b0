// The store seam, administering: what operators see and do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/generation.hpp"
#include "core/settle.hpp"
#include "core/status.hpp"
#include "store/claiming.hpp"

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
  std::optional<Timestamp> failed_at;  ///< of the current cycle
  std::optional<Timestamp> deleted_at;
  std::vector<HandlerProgress> progress;    ///< the handlers still to run, where the event has several
  std::optional<std::string> unreadable{};  ///< why the payload is not shown (it is then `null`)
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
  std::string text;                ///< somewhere in last_error, whatever its case
  std::optional<Timestamp> since;  ///< occurred_at, not before; of dead letters: failed_at
  std::optional<Timestamp> until;  ///< before
  std::vector<Uuid> except;        ///< of dead letters: not these
};

struct EventPage {
  std::vector<EventRecord> events;          ///< newest first (by insert order)
  std::optional<std::int64_t> next_before;  ///< pass as `before_seq` for the next page
};

struct ReplayReport {
  Uuid event_id;
  int cycle = 0;  ///< the cycle that was closed, 1 for the first
  int attempts = 0;
  Generation from_generation = 0;
  Generation to_generation = 0;
};

struct Deployment {
  Generation generation = 0;
  GenerationState state = GenerationState::allocated;
  std::string note;
  std::string changed_by;
  Timestamp allocated_at{};
  std::optional<Timestamp> activated_at;
  std::optional<Timestamp> draining_at;
  std::optional<Timestamp> retired_at;
};

/// A transaction that began before a generation was drained and may still commit events into it.
struct OpenPublisher {
  int pid = 0;      ///< 0: a prepared transaction
  std::string gid;  ///< of a prepared transaction
  std::string user;
  std::string application;
  std::optional<Timestamp> since;  ///< of a prepared transaction: when it was prepared; none: hidden from us
};

struct StatusCount {
  Generation generation = 0;
  Status status = Status::pending;
  std::int64_t count = 0;
  std::int64_t waiting = 0;         ///< of pending: not yet due
  std::optional<Timestamp> oldest;  ///< of pending: occurred_at of the oldest; if estimated, of those looked at
  bool estimated = false;           ///< `count` is not exact; whether anything is pending or in flight always is
};

struct StoreStatus {
  Timestamp now{};
  std::vector<StatusCount> counts;  ///< tombstoned rows excluded; exact while they are cheap to count
  std::int64_t discarded = 0;       ///< dead letters
  bool discarded_estimated = false;
};

class Administering {
 public:
  virtual ~Administering() = default;

  virtual Result<Timestamp> now() = 0;

  virtual Result<EventPage> list_events(const EventFilter& filter, int limit,
                                        std::optional<std::int64_t> before_seq) = 0;
  virtual Result<EventRecord> get_event(const Uuid& id) = 0;  ///< not_found when there is none
  virtual Result<std::vector<HandledRecord>> handled(const EventRecord& event) = 0;
  virtual Result<std::vector<AuditRecord>> audit_of(const Uuid& event_id) = 0;
  /// The event of its ordering key that goes first: an earlier one that is pending and that somebody subscribes to, or
  /// any that is in flight. None: nothing does, or the event has no key.
  virtual Result<std::optional<Uuid>> key_blocker(const EventRecord& event) = 0;
  virtual Result<StoreStatus> status() = 0;

  /// failed → pending in place; conflict when the event is in any other state or discarded.
  virtual Result<ReplayReport> replay(const Uuid& id, Generation new_generation, const Actor& actor) = 0;
  /// Tombstones / restores a failed event. Both need a reason.
  virtual Result<void> discard(const Uuid& id, const Actor& actor) = 0;
  virtual Result<void> restore(const Uuid& id, const Actor& actor) = 0;

  virtual Result<std::vector<Deployment>> deployments() = 0;  ///< ascending
  virtual Result<Deployment> allocate_generation(std::optional<Generation> wanted, const std::string& note,
                                                 const Actor& actor) = 0;
  /// Refuses (conflict) to retire a generation that has open publishers.
  virtual Result<Deployment> move_generation(Generation generation, GenerationState to, const Actor& actor) = 0;
  /// Of a draining generation, the oldest first; what we may not see counts where it may be one.
  virtual Result<std::vector<OpenPublisher>> open_publishers(Generation generation) = 0;
  /// Moves up to `limit` pending events from one generation to another, due when they were; returns how many.
  virtual Result<std::int64_t> reroute(Generation from, Generation to, int limit, const Actor& actor) = 0;
  /// The newest live generation, else 1.
  virtual Result<Generation> default_generation() = 0;
};

}  // namespace sluice::store
