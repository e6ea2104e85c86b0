#include "store/sqlite/database.hpp"

#include <chrono>
#include <thread>

namespace sluice::store::sqlite {
namespace {

// A process that outlives the owner of the checkpoints notices within so many commits.
constexpr int kTakeOverEvery = 64;

constexpr sql::Query kJournalMode{"journal_mode", "pragma journal_mode"};
constexpr sql::Query kUseWal{"use_wal", "pragma journal_mode = wal"};
// IMMEDIATE takes the write lock at once, where waiting for another process is possible.
constexpr sql::Query kBeginImmediate{"begin_immediate", "begin immediate"};
constexpr sql::Query kCommit{"commit", "commit"};

Result<bool> in_wal_mode(Connection& connection, const sql::Query& pragma) {
  auto mode = connection.first(pragma, {}, [](Row& row) { return row.text(); });
  if (!mode) return std::move(mode).error();
  return *mode == "wal";
}

/// The change to WAL needs the file alone and does not wait for it (SQLite calls no busy handler
/// there), which matters when many processes open a new file at once.
Result<void> use_wal(Connection& connection, Duration patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    auto already = in_wal_mode(connection, kJournalMode);
    if (already && *already) return {};
    auto changed = already ? in_wal_mode(connection, kUseWal) : std::move(already);
    if (changed && *changed) return {};
    if (changed)
      return Error{ErrorCode::unavailable, Retry::never, "the file system does not support write-ahead logs", {}, {}};
    // Another process may be done soon; a full disk does not empty itself.
    const bool passing = changed.error().code == ErrorCode::unavailable && changed.error().retry == Retry::safe;
    if (!passing || std::chrono::steady_clock::now() >= deadline) return changed.error();
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
}

Result<std::unique_ptr<Connection>> open_connection(const ConnectionParams& params) {
  auto opened = Connection::open(params);
  if (!opened) return opened;
  if ((*opened)->read_only()) {
    return Error{ErrorCode::read_only,
                 Retry::never,
                 params.path + " cannot be written: the file or its folder is read-only",
                 {},
                 "check the owner and the permissions of the file and of its folder"};
  }
  if (auto wal = use_wal(**opened, params.busy_timeout); !wal) return std::move(wal).error();
  auto settings = (*opened)->script("pragma synchronous = full; pragma foreign_keys = on");
  if (!settings) return std::move(settings).error();
  return opened;
}

}  // namespace

WriteTransaction::~WriteTransaction() {
  if (database_ == nullptr) return;
  // Fails only when SQLite has already rolled back by itself.
  static_cast<void>(connection().run(Database::kRollback, {}).has_value());
  database_->writer_turn_.give_back();
}

Connection& WriteTransaction::connection() const { return *database_->writer_; }

Result<void> WriteTransaction::commit() {
  if (auto committed = connection().run(kCommit, {}); !committed) return std::move(committed).error();
  database_->take_over_checkpoints();
  std::exchange(database_, nullptr)->writer_turn_.give_back();
  return {};
}

Result<std::unique_ptr<Database>> Database::open(const ConnectionParams& params) {
  auto writer = open_connection(params);
  if (!writer) return std::move(writer).error();
  auto reader = open_connection(params);
  if (!reader) return std::move(reader).error();
  // What a batch overwrites is kept until its statement ends, and is small. What a reader sorts may be the whole
  // backlog, for which SQLite takes a temporary file when it is left alone.
  if (auto set = (*writer)->script("pragma temp_store = memory"); !set) return std::move(set).error();
  std::unique_ptr<Database> database{new Database(params)};
  database->writer_ = *std::move(writer);
  database->reader_ = *std::move(reader);
  database->reader_->set_checkpoints(false);
  database->writer_->set_checkpoints(database->owner_.try_acquire());
  return database;
}

// In a write-ahead log a commit without a sync is as whole as one with it: only the point up to which a power failure
// spares the log is another. A checkpoint syncs by itself.
Result<void> Database::wait_for_the_disk(Durability durability) {
  if (durability == durability_) return {};
  // A script, because SQLite carries this pragma out when it is prepared.
  const bool synced = durability == Durability::synced;
  if (auto set = writer_->script(synced ? "pragma synchronous = full" : "pragma synchronous = normal"); !set)
    return set;
  durability_ = durability;
  return {};
}

Result<WriteTransaction> Database::begin_write(Durability durability) {
  if (!writer_turn_.take(params_.busy_timeout)) {
    return Error{ErrorCode::unavailable,
                 Retry::safe,
                 "another transaction of this process is writing to " + params_.path + " and did not finish in time",
                 {},
                 "within a handler's transaction, write on that transaction's own connection"};
  }
  auto begun = wait_for_the_disk(durability);
  if (begun) {
    if (auto locked = writer_->run(kBeginImmediate, {}); !locked) begun = std::move(locked).error();
  }
  if (!begun) {
    writer_turn_.give_back();
    return std::move(begun).error();
  }
  return WriteTransaction{*this};
}

Result<std::unique_ptr<Connection>> Database::open_another() const {
  auto opened = Connection::open({params_.path, false, params_.busy_timeout});
  if (opened) (*opened)->set_checkpoints(false);
  return opened;
}

void Database::take_over_checkpoints() {
  if (owner_.held() || ++commits_ % kTakeOverEvery != 0) return;
  if (owner_.try_acquire()) writer_->set_checkpoints(true);
}

}  // namespace sluice::store::sqlite
