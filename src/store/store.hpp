// The store seam: what the runtime and the use cases need from a database, in domain verbs, cut by
// role. Two adapters stand behind it (postgres/, sqlite/); one contract suite runs over both.
//
// Thread-safety: every role may be called from many threads at once.
// Time: "now" is always the store's clock.
// Errors: Result<T>; Error::retry answers "may I retry?".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sluice/envelope.hpp>
#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/generation.hpp"
#include "core/retention.hpp"
#include "core/settle.hpp"
#include "core/status.hpp"

namespace sluice::store {

// ---------------------------------------------------------------- publish

struct NewEvent {
  EventEnvelope envelope;
  Generation generation = kFirstGeneration;
  std::string channel = std::string{kDefaultChannel};
  std::string content_class = "default";
  std::optional<std::string> ordering_key;
  std::optional<Timestamp> not_before;  ///< delayed until this time
  std::optional<Duration> delay;        ///< delayed by this long from the store's now; beats not_before
};

enum class PublishOutcome { published, duplicate };

class Publishing {
 public:
  virtual ~Publishing() = default;

  /// All or nothing, in one transaction. An id that is already stored changes nothing and is
  /// reported as `duplicate`, so repeating a call whose answer was lost is safe. Outcomes are in
  /// the order of the events.
  virtual Result<std::vector<PublishOutcome>> publish(std::span<const NewEvent> events) = 0;
};

// ---------------------------------------------------------------- claim and settle

struct ClaimRequest {
  Generation generation = kFirstGeneration;
  std::string worker;  ///< unique per process start
  int limit = 10;
  Duration ttl = std::chrono::seconds{300};  ///< the claim expires this long after it was made or renewed
  std::vector<std::string> contexts;         ///< targets served, besides broadcasts; empty = all
  std::vector<std::string> channels;         ///< empty = all channels of the generation
};

/// What proves the right to settle: the fencing token and where the row was last seen.
struct ClaimRef {
  Uuid event_id;
  std::int64_t claim_seq = 0;
  std::uint64_t locator = 0;  ///< a hint of the store's own; 0 is always allowed
  std::int64_t batch = 0;     ///< the store's own: which claim call this came from
};

struct ClaimedEvent {
  EventEnvelope envelope;
  ClaimRef claim;
  Generation generation = kFirstGeneration;
  std::string channel;
  std::optional<std::string> ordering_key;
  int attempts = 0;  ///< failed attempts of this cycle before this one
};

struct SettleItem {
  ClaimRef claim;
  Settlement settlement;
  /// Handlers that have handled the event in this attempt: recorded in event_handled in the same
  /// transaction, also when the claim turns out to be fenced, because the effect did happen.
  std::vector<std::string> handled_by;
  std::string idempotency_key;  ///< needed when handled_by is not empty
};

struct SettleReport {
  int settled = 0;
  std::vector<Uuid> fenced;  ///< the claim_seq no longer matched: nothing was changed for these
};

struct HandledKey {
  std::string handler_name;
  std::string idempotency_key;
  auto operator<=>(const HandledKey&) const = default;
};

class Claiming {
 public:
  virtual ~Claiming() = default;

  /// Takes up to `limit` claimable events: right generation, not deleted, due, key not blocked.
  /// Oldest first, best effort; strict per ordering key, of which at most one event is in flight.
  virtual Result<std::vector<ClaimedEvent>> claim(const ClaimRequest& request) = 0;

  /// Applies the decisions, each fenced by its claim_seq, all in one transaction.
  virtual Result<SettleReport> settle(std::span<const SettleItem> items) = 0;

  /// Renews the claims for another `ttl`. Returns the ids whose claim was lost.
  virtual Result<std::vector<Uuid>> heartbeat(std::span<const ClaimRef> claims, Duration ttl) = 0;

  /// Which of these pairs are in event_handled.
  virtual Result<std::vector<HandledKey>> already_handled(std::span<const HandledKey> keys) = 0;

  /// When the next waiting event of this generation falls due, if any waits.
  virtual Result<std::optional<Timestamp>> next_due(Generation generation) = 0;
};

// ---------------------------------------------------------------- maintain

struct ExpiredClaim {
  ClaimRef claim;
  std::string worker;
  int attempts = 0;
};

struct RetentionReport {
  std::int64_t outbox_tombstoned = 0;
  std::int64_t outbox_deleted = 0;
  std::int64_t failed_swept = 0;  ///< how many of both were in state failed
  std::int64_t handled_deleted = 0;
  bool more = false;  ///< the batch limit was reached; call again
};

class Maintaining {
 public:
  virtual ~Maintaining() = default;

  /// In-flight events whose claim's time ran out. The caller decides (core settle) and settles them
  /// under the same claim_seq, so any number of reapers may run at once.
  virtual Result<std::vector<ExpiredClaim>> expired_claims(int limit) = 0;

  /// One bounded batch: tombstones delivered and failed events past `active`, deletes tombstoned
  /// ones past `grace`, deletes event_handled rows past active + grace. Never touches pending or
  /// in-flight events. A dry run counts the same without changing anything.
  virtual Result<RetentionReport> sweep_retention(const RetentionPolicies& policies, int limit, bool dry_run) = 0;
};

// ---------------------------------------------------------------- administer

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
  std::optional<Timestamp> deleted_at;
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

struct EventFilter {
  std::optional<Status> status;
  bool include_deleted = false;
  std::string event_type;  ///< exact, or a prefix followed by `*`; empty = any
  std::string source;
  std::string target;
  std::optional<Generation> generation;
  std::optional<Uuid> workspace_id;
  std::optional<Timestamp> since;  ///< occurred_at
  std::optional<Timestamp> until;
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

struct StatusCount {
  Generation generation = 0;
  Status status = Status::pending;
  std::int64_t count = 0;
  std::int64_t waiting = 0;         ///< of pending: not yet due
  std::optional<Timestamp> oldest;  ///< occurred_at of the oldest
};

struct StoreStatus {
  Timestamp now{};
  std::vector<StatusCount> counts;  ///< tombstoned rows excluded; delivered and failed may be estimates
  std::int64_t discarded = 0;
};

struct SchemaVersion {
  int applied = 0;  ///< 0: no schema at all
  int known = 0;    ///< the newest that this build carries
};

struct MigrationStep {
  int version = 0;
  std::string name;
  bool applied_now = false;
};

struct MigrationText {
  int version = 0;
  std::string name;
  std::string sql;
};

/// What a database role may do.
enum class Grant { publisher, worker, op, reader };

class Administering {
 public:
  virtual ~Administering() = default;

  virtual Result<Timestamp> now() = 0;

  virtual Result<EventPage> list_events(const EventFilter& filter, int limit,
                                        std::optional<std::int64_t> before_seq) = 0;
  virtual Result<EventRecord> get_event(const Uuid& id) = 0;  ///< not_found when there is none
  virtual Result<std::vector<HandledRecord>> handled(const EventRecord& event) = 0;
  virtual Result<std::vector<AuditRecord>> audit_of(const Uuid& event_id) = 0;
  virtual Result<StoreStatus> status() = 0;

  /// failed → pending in place; conflict when the event is in any other state or discarded.
  virtual Result<ReplayReport> replay(const Uuid& id, Generation new_generation, const Actor& actor) = 0;
  /// Tombstones / restores a failed event. Both need a reason.
  virtual Result<void> discard(const Uuid& id, const Actor& actor) = 0;
  virtual Result<void> restore(const Uuid& id, const Actor& actor) = 0;

  virtual Result<std::vector<Deployment>> deployments() = 0;  ///< ascending
  virtual Result<Deployment> allocate_generation(std::optional<Generation> wanted, const std::string& note,
                                                 const Actor& actor) = 0;
  virtual Result<Deployment> move_generation(Generation generation, GenerationState to, const Actor& actor) = 0;
  /// The newest live generation, else 1.
  virtual Result<Generation> default_generation() = 0;
};

/// Schema work, apart from the other roles because it runs before they are usable.
class Migrating {
 public:
  virtual ~Migrating() = default;

  virtual Result<SchemaVersion> schema_version() = 0;
  /// Brings the schema up to date; safe when many run at once and after a kill. A schema that is
  /// newer than this build is refused.
  virtual Result<std::vector<MigrationStep>> migrate() = 0;
  /// Compares the schema with what this build expects; each finding is one sentence.
  virtual Result<std::vector<std::string>> validate() = 0;
  /// The migrations as this build carries them, in order; needs no connection.
  [[nodiscard]] virtual std::vector<MigrationText> migrations() const = 0;
  /// Creates the `sluice_*` roles where they are missing and gives each exactly what it needs; with
  /// `member`, also makes that existing role a member of the one for `grant`. Repeatable. Returns
  /// one sentence per thing done. Only where capabilities().roles.
  virtual Result<std::vector<std::string>> grant(std::optional<Grant> grant, const std::string& member) = 0;
};

// ---------------------------------------------------------------- the whole

/// What a store can do beyond the seam, so that nothing asks "which database is it?".
struct Capabilities {
  bool listen = false;  ///< LISTEN/NOTIFY wake-ups
  bool roles = false;   ///< database roles and grants
  bool partitions = false;
  bool embedded = false;  ///< lives in this process, a file
};

class Store : public Publishing, public Claiming, public Maintaining, public Administering, public Migrating {
 public:
  [[nodiscard]] virtual Capabilities capabilities() const = 0;
  /// For messages: the file path, or the DSN without its password.
  [[nodiscard]] virtual std::string display_name() const = 0;
};

}  // namespace sluice::store
