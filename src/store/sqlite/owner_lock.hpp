// Who may checkpoint. SQLite up to 3.51.2 can damage a file when two connections reset the write-ahead
// log at the same instant, so exactly one process moves the log into the file: the one that holds the
// lock on `<path>-owner`. The kernel releases it when that process ends, however it ends.
#pragma once

#include <string>

namespace sluice::store::sqlite {

class OwnerLock {
 public:
  explicit OwnerLock(const std::string& database_path);
  ~OwnerLock();
  OwnerLock(const OwnerLock&) = delete;
  OwnerLock& operator=(const OwnerLock&) = delete;

  /// Takes the lock if it is free, without waiting. True when this object holds it.
  bool try_acquire();
  [[nodiscard]] bool held() const { return held_; }

 private:
  int descriptor_;
  bool held_ = false;
};

}  // namespace sluice::store::sqlite
