// For tests: what SQLite does to its write-ahead logs while this lives, for files that are opened meanwhile.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>

namespace sluice::test {

/// One at a time; the files must be closed before it ends.
class WatchedLog {
 public:
  WatchedLog();
  ~WatchedLog();
  WatchedLog(const WatchedLog&) = delete;
  WatchedLog& operator=(const WatchedLog&) = delete;

  /// Called after each sync of a log, on the thread that asked for it.
  std::function<void()> synced;
  std::atomic<bool> refuse_writes = false;
};

}  // namespace sluice::test
