// The store seam, maintaining: expired claims and retention.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sluice/result.hpp>
#include "core/retention.hpp"
#include "store/administering.hpp"
#include "store/claiming.hpp"

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
};

struct RetentionReport {
  std::int64_t outbox_tombstoned = 0;
  std::int64_t outbox_deleted = 0;
  std::int64_t failed_swept = 0;  ///< how many of both were in state failed
  std::int64_t handled_deleted = 0;
  bool more = false;  ///< the batch limit was reached; call again
};

struct PruneReport {
  std::int64_t cursors = 0;         ///< marks of groups of workers that are gone
  std::int64_t failure_groups = 0;  ///< without a dead letter
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

  /// Forgets bookkeeping that stands for nothing any more: how far groups of workers had scanned that nobody has been
  /// in for a week, which costs one that comes back a long scan; groups of failures of which no dead letter is left and
  /// that no event has joined for as long as one is kept.
  virtual Result<PruneReport> prune(const RetentionPolicies& policies) = 0;
};

}  // namespace sluice::store
