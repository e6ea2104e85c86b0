// What can be seen of the backlog and of the database's own health. Facts, no opinions.
//
// Whoever asks sees what it may see; what it may not, or what took too long, is named instead of failing everything.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/generation.hpp"
#include "core/status.hpp"
#include "store/partition.hpp"

namespace sluice::store {

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
  std::int64_t discarded = 0;       ///< dead letters, and pending events that were cancelled
  bool discarded_estimated = false;
};

/// Counts go no further than this: what they cost does not grow with the table.
inline constexpr std::int64_t kGaugeLook = 10'000;

struct GenerationGauges {
  Generation generation = kFirstGeneration;
  std::int64_t due = 0;                 ///< could be claimed now; beyond kGaugeLook an estimate
  std::optional<Timestamp> oldest_due;  ///< since when the one that waits for longest is due
  std::int64_t waiting = 0;             ///< pending and not yet due; at most kGaugeLook
  std::int64_t in_flight = 0;
  std::int64_t dead = 0;  ///< failed and not discarded; together with the other generations at most kGaugeLook
};

struct StoreGauges {
  Timestamp now{};
  std::vector<GenerationGauges> generations;  ///< ascending: those that have any of it
  bool dead_capped = false;                   ///< there are more dead events than were counted
  std::int64_t oldest = 0;                    ///< the number of the oldest event; numbers are given in insert order
  std::int64_t newest = 0;                    ///< and of the newest; 0: there is none
};

/// Why an event was stranded.
enum class StrandedCause {
  passed_over,   ///< pending and due, somebody wants it, and no claim looks where it is: made due
  no_claim,      ///< in flight, but nobody holds a claim that could run out: expired, for the reaper
  blocker_gone,  ///< it waited for an earlier event of its ordering key that is not in its way any more: released
};
/// The stable names, by StrandedCause.
inline constexpr std::array<std::string_view, 3> kStrandedCauses{"passed_over", "no_claim", "blocker_gone"};
constexpr std::string_view name(StrandedCause cause) { return kStrandedCauses[static_cast<std::size_t>(cause)]; }

/// None: there is no such cause.
constexpr std::optional<StrandedCause> parse_stranded_cause(std::string_view text) {
  for (std::size_t at = 0; at < kStrandedCauses.size(); ++at) {
    if (kStrandedCauses[at] == text) return static_cast<StrandedCause>(at);
  }
  return std::nullopt;
}

/// A session of the database server, as the server shows it to us.
struct ServerSession {
  int pid = 0;
  std::string application;
  std::string user;
  std::string state;                        ///< active, idle in transaction, …; empty: hidden from us
  std::optional<Duration> transaction_age;  ///< none: in no transaction, or hidden from us
  std::string query;                        ///< the beginning of its latest statement
};

/// What keeps old row versions from being removed.
struct XminHolder {
  enum class Kind { session, prepared, slot };
  Kind kind = Kind::session;
  ServerSession session;          ///< of a prepared transaction: the user and the age only
  std::string name;               ///< of a prepared transaction or a slot
  std::int64_t transactions = 0;  ///< begun since
};

struct NotifyFacts {
  double queue_usage = 0;               ///< 0 to 1
  std::int64_t commits_waiting = 0;     ///< transactions that wait for the commit lock of NOTIFY
  std::vector<ServerSession> suspects;  ///< in a transaction: listeners as far as one can tell, then the oldest
};

/// core.outbox as its statistics describe it.
struct TableFacts {
  std::int64_t live_rows = 0;  ///< an estimate
  std::int64_t dead_rows = 0;  ///< an estimate
  std::int64_t bytes = 0;      ///< with its indexes
  std::optional<Timestamp> vacuumed_at;
  bool partitioned = false;
};

/// Locks on core.outbox that keep others from writing.
struct LockFacts {
  std::vector<ServerSession> holders;
  std::int64_t waiting = 0;
};

struct GrantFacts {
  bool owner = false;                    ///< the current user owns the schema, or is a superuser
  std::vector<std::string> roles;        ///< the sluice_* roles that exist
  std::vector<std::string> memberships;  ///< those that the current user has
  std::vector<std::string> missing;      ///< what a role needs and lacks: `sluice_worker: execute core.outbox_claim`
};

struct ServerFacts {
  int version = 0;  ///< 150004
  std::string version_text;
  std::string user;
  bool superuser = false;
  bool sees_all_sessions = false;
  bool standby = false;
  bool pooled = false;  ///< other backends answer than the one that was connected to
  std::optional<GrantFacts> grants;
  std::optional<NotifyFacts> notify;
  std::optional<std::vector<XminHolder>> xmin;  ///< the oldest first, a few
  std::optional<TableFacts> outbox;
  std::optional<LockFacts> locks;
};

/// The file of an embedded store.
struct FileFacts {
  std::string path;
  std::int64_t bytes = 0;
  std::int64_t wal_bytes = 0;
  std::int64_t free_bytes = 0;  ///< pages that hold nothing
  std::string journal_mode;
  std::string owner;
  unsigned permissions = 0;  ///< 0644
  std::optional<std::int64_t> disk_free_bytes;
  std::vector<std::string> damage;  ///< what the quick check says; empty: sound
};

/// Claims whose time ran out and that no reaper has taken back.
struct ExpiredFacts {
  std::int64_t count = 0;  ///< at most kExpiredLook
  std::optional<Timestamp> oldest;
};
inline constexpr int kExpiredLook = 1000;

struct RetentionFacts {
  std::optional<Timestamp>
      oldest_finished;  ///< when the oldest delivered or failed event was last published, settled, restored
  std::optional<Timestamp> oldest_tombstone;  ///< when the oldest tombstone was set
};

/// Events that the patrol found stranded and healed within the last day. The store remembers the latest thousand.
struct StrandedFacts {
  struct OfCause {
    StrandedCause cause = StrandedCause::passed_over;
    std::int64_t count = 0;
    Uuid latest_id;
    Timestamp latest_at{};
  };
  std::vector<OfCause> causes;  ///< those that occurred
};
inline constexpr Duration kStrandedLook = std::chrono::hours{24};

/// Something that was not looked at, and why.
struct Unseen {
  std::string what;
  Error error;
};

enum class DiagnosisDepth {
  glance,  ///< without grants and without the check of the whole file: cheap enough for twice a minute
  whole,
};

struct Diagnosis {
  std::optional<ServerFacts> server;
  std::optional<FileFacts> file;
  std::optional<ExpiredFacts> expired;        ///< none without a schema
  std::optional<RetentionFacts> retention;    ///< none without a schema
  std::optional<StrandedFacts> stranded;      ///< none without a schema
  std::optional<PartitionLayout> partitions;  ///< none without a schema, and where the store has none
  std::vector<Unseen> unseen;
};

/// Pending events that could be claimed now.
struct DueBacklog {
  std::int64_t count = 0;
  std::optional<Timestamp> oldest;  ///< when the one that waits for longest fell due
  Timestamp now{};
};

/// A pending event that a live worker should have taken: due, subscribed to, first of its key.
struct OverdueEvent {
  enum class Cause {
    passed_over,     ///< the scan of its workers has passed it, and nothing brings them back to it
    behind,          ///< the workers have not come to it
    marked_blocked,  ///< marked as waiting for its key, and nothing of its key stands before it
  };
  Uuid id;
  std::string event_type;
  Generation generation = kFirstGeneration;
  Timestamp due{};
  std::string handler_name;  ///< one that subscribes to it and that a live worker runs
  Cause cause = Cause::behind;
};

struct OverdueQuery {
  Duration patience{};      ///< due for at least so long
  Duration alive_within{};  ///< a worker that was seen since then is alive
  int limit = 0;
};

}  // namespace sluice::store
