// The file as the store uses it: one connection that writes, one that reads, each for one thread at a
// time, and the log that is kept short.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/try.hpp"
#include "store/sqlite/checkpoint_lock.hpp"
#include "store/sqlite/connection.hpp"

namespace sluice::store::sqlite {

/// Whose turn it is to write. Unlike a mutex, it may be given back by another thread than took it, because
/// the transaction of an effect may end on another one, and it is not waited for without end.
class Turn {
 public:
  /// False when it was not free within `patience`.
  [[nodiscard]] bool take(Duration patience) {
    std::unique_lock lock{mutex_};
    if (!free_again_.wait_for(lock, patience, [this] { return !taken_; })) return false;
    taken_ = true;
    return true;
  }

  void give_back() {
    {
      const std::lock_guard lock{mutex_};
      taken_ = false;
    }
    free_again_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable free_again_;
  bool taken_ = false;
};

class Database;

/// What a commit waits for. Either way a process that is killed loses nothing that was committed, and a power failure
/// leaves every commit up to some point and none after it.
enum class Durability {
  synced,  ///< the disk: it outlives a power failure, and so does every commit before it
  /// Nothing: a power failure may take it back, together with whatever was committed after it. For claims, renewals and
  /// plain acknowledgements: without them the events are delivered again, as at-least-once allows.
  lazy,
};

/// The writing connection in a transaction that holds the write lock; undone unless it is committed.
///
/// Thread-safety: none, but it may be handed from thread to thread.
class WriteTransaction {
 public:
  explicit WriteTransaction(Database& database) : database_(&database) {}
  ~WriteTransaction();
  WriteTransaction(WriteTransaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  WriteTransaction& operator=(WriteTransaction&&) = delete;
  WriteTransaction(const WriteTransaction&) = delete;
  WriteTransaction& operator=(const WriteTransaction&) = delete;

  [[nodiscard]] Connection& connection() const;
  /// Ends the transaction when it succeeds; otherwise it is undone by the destructor.
  Result<void> commit();

 private:
  Database* database_;  // null once it is over
};

class Database {
 public:
  static Result<std::unique_ptr<Database>> open(const ConnectionParams& params);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Waits for its turn as long as for another process.
  Result<WriteTransaction> begin_write(Durability durability = Durability::synced);

  /// `work(Connection&)` in one transaction: committed when it returns a value, undone otherwise.
  template <class Work>
  auto write(Work work) -> decltype(work(std::declval<Connection&>())) {
    return write(Durability::synced, std::move(work));
  }
  template <class Work>
  auto write(Durability durability, Work work) -> decltype(work(std::declval<Connection&>())) {
    SLUICE_TRY(auto transaction, begin_write(durability));
    auto result = work(transaction.connection());
    if (!result) return result;
    SLUICE_CHECK(transaction.commit());
    return result;
  }

  /// `work(Connection&)` over one consistent state of the file; does not wait for writers.
  template <class Work>
  auto read(Work work) -> decltype(work(std::declval<Connection&>())) {
    const std::lock_guard lock{reader_mutex_};
    SLUICE_CHECK(reader_->run(kBegin, {}));
    const Undo undo{*reader_};
    return work(*reader_);
  }

  /// An error when the file was removed or replaced while it was open: whatever is written goes nowhere.
  [[nodiscard]] Result<void> still_there() const;

  /// A connection for looking at the file without holding up anybody; never checkpoints.
  [[nodiscard]] Result<std::unique_ptr<Connection>> open_another() const;

 private:
  friend class WriteTransaction;

  static constexpr sql::Query kBegin{"begin", "begin"};
  static constexpr sql::Query kRollback{"rollback", "rollback"};

  struct Undo {
    Connection& connection;
    ~Undo() {
      // Fails only when SQLite has already rolled back by itself.
      static_cast<void>(connection.run(kRollback, {}).has_value());
    }
  };

  explicit Database(ConnectionParams params) : params_(std::move(params)), checkpoint_lock_(params_.path) {}
  void keep_log_short();
  Result<void> wait_for_the_disk(Durability durability);

  ConnectionParams params_;
  CheckpointLock checkpoint_lock_;
  struct FileNumber {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    bool operator==(const FileNumber&) const = default;
  };
  static std::optional<FileNumber> number_of(const std::string& path);
  std::optional<FileNumber> opened_;  // none: not a file that has a name
  Turn writer_turn_;
  std::mutex reader_mutex_;
  Durability durability_ = Durability::synced;  // of the writer, as open_connection leaves it
  // The reader closes first: the last connection to close is the one that checkpoints.
  std::unique_ptr<Connection> writer_;
  std::unique_ptr<Connection> reader_;
};

}  // namespace sluice::store::sqlite
