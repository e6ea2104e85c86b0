// The file as the store uses it: one connection that writes, one that reads, each for one thread at a
// time, and the right to checkpoint.
#pragma once

#include <memory>
#include <mutex>

#include "store/sqlite/connection.hpp"
#include "store/sqlite/owner_lock.hpp"

namespace sluice::store::sqlite {

class Database {
 public:
  static Result<std::unique_ptr<Database>> open(const ConnectionParams& params);

  /// `work(Connection&)` in one transaction: committed when it returns a value, undone otherwise.
  template <class Work>
  auto write(Work work) -> decltype(work(std::declval<Connection&>())) {
    const std::lock_guard lock{writer_mutex_};
    // IMMEDIATE takes the write lock at once, where waiting for another process is possible.
    if (auto begun = writer_->script("begin immediate"); !begun) return std::move(begun).error();
    Undo undo{*writer_};
    auto result = work(*writer_);
    if (!result) return result;
    if (auto committed = writer_->script("commit"); !committed) return std::move(committed).error();
    undo.armed = false;
    take_over_checkpoints();
    return result;
  }

  /// `work(Connection&)` over one consistent state of the file; does not wait for writers.
  template <class Work>
  auto read(Work work) -> decltype(work(std::declval<Connection&>())) {
    const std::lock_guard lock{reader_mutex_};
    if (auto begun = reader_->script("begin"); !begun) return std::move(begun).error();
    const Undo undo{*reader_};
    return work(*reader_);
  }

 private:
  struct Undo {
    Connection& connection;
    bool armed = true;
    ~Undo() {
      // Fails only when SQLite has already rolled back by itself.
      if (armed) static_cast<void>(connection.script("rollback").has_value());
    }
  };

  explicit Database(const std::string& path) : owner_(path) {}
  void take_over_checkpoints();

  OwnerLock owner_;
  std::mutex writer_mutex_;
  std::mutex reader_mutex_;
  int commits_ = 0;
  // The reader closes first: the last connection to close is the one that checkpoints.
  std::unique_ptr<Connection> writer_;
  std::unique_ptr<Connection> reader_;
};

}  // namespace sluice::store::sqlite
