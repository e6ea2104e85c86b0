// When the write-ahead log may be moved into the file. SQLite up to 3.51.2 can damage a file when one connection resets
// the log while another one checkpoints it, so the two exclude each other, in all processes: whoever writes shares the
// lock on `<path>-checkpoint` for the length of its transaction, and whoever checkpoints has it alone. The kernel
// releases it when a process ends, however it ends.
//
// Everybody who writes may checkpoint: were it the duty of one process, the log would grow for as long as that one only
// reads.
//
// Thread-safety: none; belongs to whoever has the turn to write.
#pragma once

#include <string>

#include <sluice/time.hpp>

namespace sluice::store::sqlite {

class CheckpointLock {
 public:
  explicit CheckpointLock(const std::string& database_path);
  ~CheckpointLock();
  CheckpointLock(const CheckpointLock&) = delete;
  CheckpointLock& operator=(const CheckpointLock&) = delete;

  /// For a write. False when a checkpoint has not ended within `patience`.
  [[nodiscard]] bool share(Duration patience);
  /// For a checkpoint: whether nobody else writes or checkpoints. Does not wait; gives up what was shared.
  [[nodiscard]] bool try_alone();
  void release();

 private:
  int descriptor_;
  bool works_;  ///< not every file system has such locks; without them nobody checkpoints
};

}  // namespace sluice::store::sqlite
