#include "store/sqlite/database.hpp"

#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "core/try.hpp"

namespace sluice::store::sqlite {
namespace {

// How many pages of log make whoever commits write them back; SQLite's own default.
constexpr int kCheckpointPages = 1000;

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
  SLUICE_CHECK(use_wal(**opened, params.busy_timeout));
  SLUICE_CHECK((*opened)->script("pragma synchronous = full; pragma foreign_keys = on"));
  return opened;
}

}  // namespace

WriteTransaction::~WriteTransaction() {
  if (database_ == nullptr) return;
  // Fails only when SQLite has already rolled back by itself.
  static_cast<void>(connection().run(Database::kRollback, {}).has_value());
  database_->checkpoint_lock_.release();
  database_->writer_turn_.give_back();
}

Connection& WriteTransaction::connection() const { return *database_->writer_; }

Result<void> WriteTransaction::commit() {
  SLUICE_CHECK(connection().run(kCommit, {}));
  database_->keep_log_short();
  std::exchange(database_, nullptr)->writer_turn_.give_back();
  return {};
}

Result<std::unique_ptr<Database>> Database::open(const ConnectionParams& params) {
  SLUICE_TRY(auto writer, open_connection(params));
  auto reader = open_connection(params);
  if (!reader) return std::move(reader).error();
  // What a batch overwrites is kept until its statement ends, and is small. What a reader sorts may be the whole
  // backlog, for which SQLite takes a temporary file when it is left alone.
  SLUICE_CHECK(writer->script("pragma temp_store = memory"));
  std::unique_ptr<Database> database{new Database(params)};
  database->writer_ = std::move(writer);
  database->reader_ = *std::move(reader);
  database->opened_ = number_of(params.path);
  return database;
}

std::optional<Database::FileNumber> Database::number_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileNumber{found.st_dev, found.st_ino};
}

Result<void> Database::still_there() const {
  if (!opened_ || number_of(params_.path) == opened_) return {};
  return Error{ErrorCode::unavailable, Retry::never,
               params_.path + " was removed or replaced while this process had it open", "store",
               "restart every process that uses it"};
}

Database::~Database() {
  // The last one to close the file leaves no log behind; SQLite knows whether this is the last.
  if (writer_) writer_->set_checkpoint_on_close(checkpoint_lock_.try_alone());
}

// In a write-ahead log a commit without a sync is as whole as one with it: only the point up to which a power failure
// spares the log is another. A checkpoint syncs by itself.
Result<void> Database::wait_for_the_disk(Durability durability) {
  if (durability == durability_) return {};
  // A script, because SQLite carries this pragma out when it is prepared.
  const bool synced = durability == Durability::synced;
  SLUICE_CHECK(writer_->script(synced ? "pragma synchronous = full" : "pragma synchronous = normal"));
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
  if (begun && !checkpoint_lock_.share(params_.busy_timeout)) {
    static_cast<void>(writer_->run(kRollback, {}).has_value());
    begun = Error{ErrorCode::unavailable,
                  Retry::safe,
                  "another process is moving the log of " + params_.path + " into the file and did not finish in time",
                  {},
                  {}};
  }
  if (!begun) {
    writer_turn_.give_back();
    return std::move(begun).error();
  }
  return WriteTransaction{*this};
}

Result<std::unique_ptr<Connection>> Database::open_another() const {
  return Connection::open({params_.path, false, params_.busy_timeout});
}

// While others write, it is for one of them or for the next commit.
void Database::keep_log_short() {
  if (writer_->log_pages() >= kCheckpointPages && checkpoint_lock_.try_alone()) writer_->checkpoint();
  checkpoint_lock_.release();
}

}  // namespace sluice::store::sqlite
