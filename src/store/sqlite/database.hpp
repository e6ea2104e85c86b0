// The file as the store uses it: one connection that writes, one that reads, each for one thread at a
// time, and the right to checkpoint.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "store/sqlite/connection.hpp"
#include "store/sqlite/owner_lock.hpp"
#include "store/sqlite/turn.hpp"

namespace sluice::store::sqlite {

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

  /// Waits for its turn as long as for another process.
  Result<WriteTransaction> begin_write(Durability durability = Durability::synced);

  /// `work(Connection&)` in one transaction: committed when it returns a value, undone otherwise.
  template <class Work>
  auto write(Work work) -> decltype(work(std::declval<Connection&>())) {
    return write(Durability::synced, std::move(work));
  }
  template <class Work>
  auto write(Durability durability, Work work) -> decltype(work(std::declval<Connection&>())) {
    auto transaction = begin_write(durability);
    if (!transaction) return std::move(transaction).error();
    auto result = work(transaction->connection());
    if (!result) return result;
    if (auto committed = transaction->commit(); !committed) return std::move(committed).error();
    return result;
  }

  /// `work(Connection&)` over one consistent state of the file; does not wait for writers.
  template <class Work>
  auto read(Work work) -> decltype(work(std::declval<Connection&>())) {
    const std::lock_guard lock{reader_mutex_};
    if (auto begun = reader_->run(kBegin, {}); !begun) return std::move(begun).error();
    const Undo undo{*reader_};
    return work(*reader_);
  }

  /// Whether this process moves the write-ahead log into the file, or some other does.
  [[nodiscard]] bool owns_checkpoints() const { return owner_.held(); }

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

  explicit Database(ConnectionParams params) : params_(std::move(params)), owner_(params_.path) {}
  void take_over_checkpoints();
  Result<void> wait_for_the_disk(Durability durability);

  ConnectionParams params_;
  OwnerLock owner_;
  Turn writer_turn_;
  std::mutex reader_mutex_;
  int commits_ = 0;
  Durability durability_ = Durability::synced;  // of the writer, as open_connection leaves it
  // The reader closes first: the last connection to close is the one that checkpoints.
  std::unique_ptr<Connection> writer_;
  std::unique_ptr<Connection> reader_;
};

}  // namespace sluice::store::sqlite
