#include "store/sqlite/watched_log.hpp"

#include <sqlite3.h>

namespace sluice::test {
namespace {

WatchedLog* watching = nullptr;
sqlite3_vfs* real = nullptr;
sqlite3_vfs watched;
const sqlite3_io_methods* real_methods = nullptr;
sqlite3_io_methods log_methods;

int sync(sqlite3_file* file, int flags) {
  const int code = real_methods->xSync(file, flags);
  if (watching->synced) watching->synced();
  return code;
}

int write(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 offset) {
  return watching->refuse_writes ? SQLITE_IOERR_WRITE : real_methods->xWrite(file, data, bytes, offset);
}

int open(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  const int code = real->xOpen(real, name, file, flags, out_flags);
  if (code != SQLITE_OK || (flags & SQLITE_OPEN_WAL) == 0) return code;
  real_methods = file->pMethods;
  log_methods = *real_methods;
  log_methods.xSync = sync;
  log_methods.xWrite = write;
  file->pMethods = &log_methods;
  return code;
}

}  // namespace

WatchedLog::WatchedLog() {
  watching = this;
  real = sqlite3_vfs_find(nullptr);
  watched = *real;
  watched.zName = "watched";
  watched.xOpen = open;
  sqlite3_vfs_register(&watched, 1);
}

WatchedLog::~WatchedLog() {
  sqlite3_vfs_unregister(&watched);
  sqlite3_vfs_register(real, 1);
  watching = nullptr;
}

}  // namespace sluice::test
