// The embedded store: one SQLite file, WAL, synchronous=FULL, one writer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace sluice::store {

struct SqliteOptions {
  std::string path;                                  ///< the file; its folder is created when `create` is set
  bool create = true;                                ///< false: a missing file is not_found
  bool auto_migrate = true;                          ///< bring a new or older file up to date when opening
  Duration busy_timeout = std::chrono::seconds{10};  ///< how long to wait for another process's write
  std::function<Timestamp()> clock;                  ///< the store's clock; default: the system's
};

Result<std::unique_ptr<Store>> open_sqlite(const SqliteOptions& options);

/// The migrations as this build carries them, in order; needs no store.
std::vector<MigrationText> sqlite_migrations();

}  // namespace sluice::store
