#include "store/sqlite/sqlite_error.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace sluice::store::sqlite {
namespace {

Error make(ErrorCode code, Retry retry, std::string message, std::string hint = {}) {
  return Error{code, retry, std::move(message), {}, std::move(hint)};
}

Error no_space(const std::string& path) {
  return make(ErrorCode::exhausted, Retry::safe, path + " cannot grow: the disk is full",
              "free some disk space and try again");
}

/// None when the errno has nothing to do with space.
std::optional<Error> out_of_space(int system_errno, const std::string& path) {
  switch (system_errno) {
    case ENOSPC:
      return no_space(path);
    case EDQUOT:
      return make(ErrorCode::exhausted, Retry::safe, path + " cannot grow: the disk quota is used up",
                  "free some disk space or raise the quota, and try again");
    case EFBIG:
      return make(ErrorCode::exhausted, Retry::safe, path + " cannot grow: the limit for the size of a file is reached",
                  "raise the limit (see ulimit -f) or move the store to another file system, and try again");
    default:
      return std::nullopt;
  }
}

Error io_error(int code, int system_errno, const std::string& path, const std::string& detail) {
  if (auto full = out_of_space(system_errno, path)) return *std::move(full);
  // A failed sync leaves open whether the commit reached the disk.
  const bool unsynced = code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
  return make(ErrorCode::unavailable, unsynced ? Retry::in_doubt : Retry::safe,
              "reading or writing " + path + " failed: " + detail);
}

Error constraint_error(int code, const std::string& detail) {
  switch (code) {
    case SQLITE_CONSTRAINT_TRIGGER:  // RAISE in a trigger: the text is the whole sentence
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
      return make(ErrorCode::conflict, Retry::never, detail);
    default:
      return make(ErrorCode::invalid, Retry::never, detail);
  }
}

}  // namespace

Error last_error(sqlite3* db, int code, const std::string& path) {
  const int latest_errno = errno;
  const int extended = db != nullptr ? sqlite3_extended_errcode(db) : code;
  // SQLite notes the errno of a failed statement, but not that of a failed commit.
  const int noted_errno = db != nullptr ? sqlite3_system_errno(db) : 0;
  const int system_errno = noted_errno != 0 ? noted_errno : latest_errno;
  const std::string detail = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_FULL:
      return no_space(path);
    case SQLITE_NOMEM:
      return make(ErrorCode::exhausted, Retry::safe, "there is not enough memory to work on " + path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return make(ErrorCode::read_only, Retry::never, path + " cannot be written: the file or its folder is read-only",
                  "check the owner and the permissions of the file and of its folder");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return make(ErrorCode::unavailable, Retry::safe,
                  "another process is writing to " + path + " and did not finish in time",
                  "try again, or stop the other process");
    case SQLITE_CORRUPT:
      return make(ErrorCode::corrupt, Retry::never, path + " is damaged: " + detail, "restore it from a backup");
    case SQLITE_NOTADB:
      return make(ErrorCode::corrupt, Retry::never, path + " is not a SQLite database",
                  "give the path of another file, or move this one away");
    case SQLITE_CANTOPEN:
      return make(ErrorCode::unavailable, Retry::never,
                  "cannot open " + path + ": " + (noted_errno != 0 ? std::strerror(noted_errno) : detail.c_str()));
    case SQLITE_IOERR:
      return io_error(extended, system_errno, path, noted_errno != 0 ? std::strerror(noted_errno) : detail);
    case SQLITE_CONSTRAINT:
      return constraint_error(extended, detail);
    case SQLITE_TOOBIG:
      return make(ErrorCode::invalid, Retry::never, "a value is too large for " + path);
    case SQLITE_INTERRUPT:
      return make(ErrorCode::timeout, Retry::safe, "work on " + path + " was interrupted");
    case SQLITE_SCHEMA:
    case SQLITE_ERROR:
      if (detail.starts_with("no such table") || detail.starts_with("no such column")) {
        return make(ErrorCode::schema, Retry::never, path + " has no up-to-date Sluice schema: " + detail,
                    "run sluice db migrate");
      }
      [[fallthrough]];
    default:
      return make(ErrorCode::internal, Retry::never, "SQLite refused the work on " + path + ": " + detail);
  }
}

}  // namespace sluice::store::sqlite
