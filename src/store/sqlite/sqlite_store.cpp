#include "store/sqlite/sqlite_store.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>

#include "core/try.hpp"
#include "host/entropy.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store {
namespace {

// Another number after every start of the machine, never 0; always the same where that cannot be told.
std::int64_t this_boot() {
  std::string id;
  std::ifstream file{"/proc/sys/kernel/random/boot_id"};
  if (!std::getline(file, id) || id.empty()) return 1;
  // FNV-1a: the number goes into tokens that outlive the process, so it may not depend on the library.
  std::uint64_t number = 14695981039346656037U;
  for (const char c : id) number = (number ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return static_cast<std::int64_t>(number & std::numeric_limits<std::int64_t>::max()) | 1;
}

Result<void> check_path(const SqliteOptions& options) {
  if (options.path.empty()) return invalid("path", "the path of the SQLite file is empty");
  if (options.path == ":memory:") {
    return invalid("path", "a store in memory cannot be shared between connections: give the path of a file");
  }
  std::error_code failure;
  const std::filesystem::path file{options.path};
  if (std::filesystem::exists(file, failure)) return {};
  if (!options.create) {
    return Error{ErrorCode::not_found, Retry::never, "there is no store at " + options.path, "path",
                 "check the path, or create it with sluice db migrate"};
  }
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path{"."};
  std::filesystem::create_directories(folder, failure);
  if (!failure && ::access(folder.c_str(), W_OK | X_OK) != 0) failure.assign(errno, std::generic_category());
  if (failure) {
    return Error{ErrorCode::unavailable, Retry::never, "cannot create " + options.path + ": " + failure.message(),
                 "path", "check the owner and the permissions of the folder"};
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite(const SqliteOptions& options) {
  SLUICE_CHECK(check_path(options));
  SLUICE_TRY(auto database, sqlite::Database::open({options.path, options.create, options.busy_timeout}));
  std::unique_ptr<Store> store = std::make_unique<sqlite::SqliteStore>(std::move(database), options.path,
                                                                       options.clock ? options.clock : host::wall_clock,
                                                                       options.boot ? *options.boot : this_boot());
  if (options.auto_migrate) {
    SLUICE_CHECK(store->migrate());
  }
  return store;
}

}  // namespace sluice::store
