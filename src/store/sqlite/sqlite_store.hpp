// The embedded store: one SQLite file, a write-ahead log, one writer.
//
// Publishing, failures, dedup rows and everything that an operator does wait for the disk; publishers that come at once
// share one commit. Claims, their renewals and plain acknowledgements do not wait: a process that is killed loses none
// of them, and after a power failure their events are delivered again, as at-least-once allows. A claim holds until the
// machine is started again: what it says after that is fenced.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/store.hpp"

struct sqlite3;

namespace sluice::store {

struct SqliteOptions {
  std::string path;                                  ///< the file; its folder is created when `create` is set
  bool create = true;                                ///< false: a missing file is not_found
  bool auto_migrate = true;                          ///< bring a new or older file up to date when opening
  Duration busy_timeout = std::chrono::seconds{10};  ///< how long to wait for another process's write
  std::function<Timestamp()> clock;                  ///< the store's clock; default: the system's
  /// Which start of the machine this is: a power failure may undo claims, and those of an earlier start are fenced.
  std::optional<std::int64_t> boot;
};

Result<std::unique_ptr<Store>> open_sqlite(const SqliteOptions& options);

/// Publishing::publish on the caller's own connection, in the caller's own transaction, which must be open:
/// the events are there when it commits. After an error nothing of the batch stays, and the transaction may
/// go on. `now` is the time of the publish.
Result<std::vector<PublishOutcome>> publish_on(sqlite3* connection, std::span<const NewEvent> events, Timestamp now);

/// Notifies the listeners of this process on this file: for a commit that no store made. Without it
/// they notice within a moment, as those of other processes do.
void notify_listeners(const std::string& path);

/// The migrations as this build carries them, in order; needs no store.
std::vector<MigrationText> sqlite_migrations();

}  // namespace sluice::store
