// The store seam, maintaining: what the store needs done from time to time, by whoever runs first. Claims that ran
// out, retention, and the patrol that finds events which no claim will ever find, whatever stranded them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/generation.hpp"
#include "core/history.hpp"
#include "core/ladder.hpp"
#include "core/retention.hpp"
#include "core/settle.hpp"
#include "store/claimed_event.hpp"
#include "store/diagnosis.hpp"
#include "store/event_record.hpp"
#include "store/partition.hpp"

namespace sluice::store {

struct ExpiredClaim {
  ClaimRef claim;
  std::string worker;
  int attempts = 0;
  Generation generation = kFirstGeneration;
  Timestamp claimed_at{};
  Timestamp seen_at{};  ///< the store's now
  std::vector<HandlerProgress> progress;
  std::string last_error;  ///< of the row, like the next two; empty: nothing failed since the last replay
  std::string error_class;
  std::string fingerprint;
  std::string event_type;  ///< with the next two: its route
  std::optional<std::string> target;
  std::string channel;
};

struct RetentionReport {
  std::int64_t outbox_tombstoned = 0;
  std::int64_t outbox_deleted = 0;
  std::int64_t failed_swept = 0;  ///< how many of both were in state failed
  std::int64_t handled_deleted = 0;
  bool more = false;                          ///< the batch limit was reached; call again
  std::vector<PartitionChange> partitions{};  ///< of a whole sweep: what was done for the partitions as well
};

struct PruneReport {
  std::int64_t cursors = 0;         ///< marks of groups of workers that are gone
  std::int64_t failure_groups = 0;  ///< without a dead letter
};

struct PatrolRequest {
  std::string holder;                                   ///< unique per process
  Duration lease = std::chrono::minutes{10};            ///< until then nobody else patrols; zero: hands it on
  Duration overlooked_after = std::chrono::minutes{1};  ///< what has been due for longer should have been claimed
  Duration settled_again = std::chrono::hours{24};      ///< numbers that were seen wholly settled rest for this long
  int rows = 5000;                                      ///< the most that one step looks at
};

struct PatrolStep {
  struct Healed {
    Uuid id;
    StrandedCause cause = StrandedCause::passed_over;
  };
  bool held = false;        ///< false: another process patrols, and nothing was done
  bool round_over = false;  ///< everything that is not settled has been looked at once more
  std::int64_t rows = 0;
  std::vector<Healed> healed;
};

class Maintaining {
 public:
  virtual ~Maintaining() = default;

  /// In-flight events whose claim's time ran out. The caller decides (core settle) and settles them
  /// under the same claim_seq, so any number of reapers may run at once.
  virtual Result<std::vector<ExpiredClaim>> expired_claims(int limit) = 0;

  /// In-flight events that this process holds, whether or not their time ran out: claimed under its identity or one of
  /// its threads' (`identity/0`). For a process that is known to be gone.
  virtual Result<std::vector<ExpiredClaim>> claims_held_by(const std::string& identity, int limit) = 0;

  /// One bounded batch: tombstones delivered and failed events past `active`, deletes tombstoned
  /// ones past `grace`, deletes event_handled rows past active + grace whose event is gone. An event is as old as the
  /// latest of: when it was published, delivered, failed, restored. Never touches pending or in-flight events. A batch
  /// that took something is audited. A dry run counts the same without changing anything. Forbidden where the database
  /// keeps more than these policies and the user does not own the schema.
  virtual Result<RetentionReport> sweep_retention(const RetentionPolicies& policies, int limit, bool dry_run,
                                                  const Actor& actor) = 0;
  Result<RetentionReport> sweep_retention(const RetentionPolicies& policies, int limit, bool dry_run) {
    return sweep_retention(policies, limit, dry_run, {"sluice", "daemon", "retention"});
  }

  /// Does one thing that the partitions of the events need, audited: makes one that is missing for this month and the
  /// next kMonthsAhead, or for events in the default one; drops the oldest that holds nothing but finished events past
  /// active + grace. Dead letters hold theirs. None: nothing is left to do, there are no partitions, or another process
  /// is at it. A dry run says what would be next. An error of kind timeout: somebody held the table, try again later.
  virtual Result<std::optional<PartitionChange>> keep_partitions(const RetentionPolicies& policies, bool dry_run,
                                                                 const Actor& actor) = 0;

  /// Forgets bookkeeping that stands for nothing any more: how far groups of workers had scanned that nobody has been
  /// in for a week, which costs one that comes back a long scan; groups of failures of which no dead letter is left and
  /// that no event has joined for as long as one is kept.
  virtual Result<PruneReport> prune(const RetentionPolicies& policies) = 0;

  /// The patrol should never find anything. It is there so that a bug, a restored table or a hand-written statement
  /// costs minutes, and is seen, instead of costing an event.
  ///
  /// One bounded step of the walk, from where the last one ended, whichever process took it. What was healed is
  /// remembered for Diagnosis::stranded.
  virtual Result<PatrolStep> patrol(const PatrolRequest& request) = 0;

  /// Adds a process's share to the sample of the store's present hour (`sample.hour` is not looked at), as add() does,
  /// so that any number of processes write one row per hour. Forgets samples beyond kLadderKept. In doubt: a second
  /// call counts the latencies twice, which changes no verdict.
  virtual Result<void> record_ladder(const LadderSample& sample) = 0;

  /// Adds minutes of a process to the history, as HistoryCounts::add does, so that any number of processes write one
  /// row per minute and series; and to the rows of their hours. Forgets minutes beyond kHistoryMinutesKept and hours
  /// beyond kHistoryHoursKept. In doubt: a second call may count twice.
  virtual Result<void> record_history(std::span<const HistoryRow> rows) = 0;
};

}  // namespace sluice::store
