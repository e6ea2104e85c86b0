// The schema of a store: its version, its migrations, and who may use it.
#pragma once

#include <string>
#include <string_view>

#include <sluice/result.hpp>

namespace sluice::store {

struct SchemaVersion {
  int applied = 0;  ///< 0: no schema at all
  int known = 0;    ///< the newest that this build carries
};

inline constexpr std::string_view kNewerSchemaHint =
    "upgrade sluice, or create a new store if a build before the first release made this one";

/// The refusal of a schema that is newer than this build.
inline Error newer_schema(const SchemaVersion& version) {
  return {ErrorCode::schema, Retry::never,
          "schema version " + std::to_string(version.applied) + " is newer than this build knows (" +
              std::to_string(version.known) + ")",
          "store", std::string{kNewerSchemaHint}};
}

/// The refusal of a schema of which a migration was applied in another form than this build carries.
inline Error foreign_schema(std::string_view migration) {
  return {ErrorCode::schema, Retry::never,
          "migration " + std::string{migration} + " was applied in another form than this build carries", "store",
          "use the build that made this store, or create a new store"};
}

struct MigrationStep {
  int version = 0;
  std::string name;
  bool applied_now = false;
};

struct MigrationText {
  int version = 0;
  std::string name;
  std::string sql;
};

/// What a database role may do.
enum class Grant { publisher, worker, op, reader };

}  // namespace sluice::store
