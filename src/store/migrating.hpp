// The store seam, migrating: the schema and who may use it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sluice/result.hpp>

namespace sluice::store {

struct SchemaVersion {
  int applied = 0;  ///< 0: no schema at all
  int known = 0;    ///< the newest that this build carries
};

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
  /// newer than this build is refused.
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
