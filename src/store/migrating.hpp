// The store seam, migrating: the schema and who may use it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Schema work, apart from the other roles because it runs before they are usable.
class Migrating {
 public:
  virtual ~Migrating() = default;

  virtual Result<SchemaVersion> schema_version() = 0;
  /// Brings the schema up to date; safe when many run at once and after a kill. A schema that is
  /// newer than this build, or was made by other migrations, is refused.
  virtual Result<std::vector<MigrationStep>> migrate() = 0;
  /// Compares the schema with what this build expects; each finding is one sentence.
  virtual Result<std::vector<std::string>> validate() = 0;
  /// The migrations as this build carries them, in order; needs no connection.
  [[nodiscard]] virtual std::vector<MigrationText> migrations() const = 0;
  /// Creates the `sluice_*` roles where they are missing and gives each exactly what it needs; with
  /// `member`, also makes that existing role a member of the one for `grant`. Repeatable. Returns
  /// one sentence per thing done. Only where capabilities().roles.
  virtual Result<std::vector<std::string>> grant(std::optional<Grant> grant, const std::string& member) = 0;
};

}  // namespace sluice::store
