// The one place where SQLite's result codes become errors of this code base.
#pragma once

#include <string>

#include <sluice/result.hpp>

struct sqlite3;

namespace sluice::store::sqlite {

/// The error for the last failing call on `db`, which may be null when opening ran out of memory.
/// `path` names the file in the sentence.
Error last_error(sqlite3* db, int code, const std::string& path);

}  // namespace sluice::store::sqlite
