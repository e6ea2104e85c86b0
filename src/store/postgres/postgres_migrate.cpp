#include <algorithm>

#include "core/try.hpp"
#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

int known_version() { return pg_sql::migrations.back().version; }

// Unprepared, like all that runs inside a migrator's transaction: behind a pooler another migrator may have prepared
// the same name on the same server connection, and the error would be the end of the transaction.
Result<int> applied_version(pq::Connection& connection) {
  SLUICE_TRY(const pq::Rows exists, connection.run_unprepared(reading(pg_sql::schema_exists)));
  if (!exists.boolean(0, 0)) return 0;
  SLUICE_TRY(const pq::Rows version, connection.run_unprepared(reading(pg_sql::schema_version)));
  return version.int4(0, 0);
}

// The refusals of those that the ledger has in another form than this build carries.
Result<std::vector<Error>> foreign_migrations(pq::Connection& connection) {
  SLUICE_TRY(const pq::Rows ledger, connection.run(reading(pg_sql::migration_list)));
  std::vector<Error> refusals;
  for (int row = 0; row < ledger.size(); ++row) {
    for (const pg_sql::Migration& migration : pg_sql::migrations) {
      if (migration.version != ledger.int4(row, 0)) continue;
      SLUICE_TRY(const pq::Rows expected,
                 connection.run(reading(pg_sql::migration_checksum), pq::Params{}.text(migration.text)));
      if (expected.text(0, 0) != ledger.text(row, 2)) refusals.push_back(foreign_schema(migration.name));
    }
  }
  return refusals;
}

// Nothing of ours fits upon the tables of other migrations.
Result<void> refuse_foreign(pq::Connection& connection) {
  SLUICE_TRY(const int applied, applied_version(connection));
  if (applied == 0) return {};
  SLUICE_TRY(const std::vector<Error> foreign, foreign_migrations(connection));
  if (!foreign.empty()) return foreign.front();
  return {};
}

// Inside the migrator's transaction, under its lock.
Result<bool> apply(pq::Connection& connection, const pg_sql::Migration& migration) {
  SLUICE_TRY(const int applied, applied_version(connection));
  if (applied > known_version()) return newer_schema({applied, known_version()});
  if (applied >= migration.version) return false;
  SLUICE_CHECK(connection.script(migration.text));
  if (migration.version == 1) {
    SLUICE_CHECK(connection.script(pg_sql::migration_table.text));
  }
  SLUICE_CHECK(
      connection.run_unprepared(writing(pg_sql::migration_record),
                                pq::Params{}.int4(migration.version).text(migration.name).text(migration.text)));
  return true;
}

// New functions and tables are for the same roles as the old ones.
Result<void> renew_grants(pq::Connection& connection) {
  SLUICE_TRY(const pq::Rows given, connection.run(reading(pg_sql::grants_given)));
  if (!given.boolean(0, 0)) return {};
  Result<void> granted = connection.script(pg_sql::grant.text);
  if (granted) return granted;
  Error error = std::move(granted).error();
  error.message = "the schema is up to date, but the rights of the sluice roles could not be renewed: " + error.message;
  error.hint = "run `sluice db grant` as the owner of the schema";
  return error;
}

std::string role_of(Grant grant) {
  switch (grant) {
    case Grant::publisher:
      return "sluice_publisher";
    case Grant::worker:
      return "sluice_worker";
    case Grant::op:
      return "sluice_operator";
    case Grant::reader:
      return "sluice_reader";
  }
  return {};
}

}  // namespace

Result<SchemaVersion> PostgresStore::schema_version() {
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  SLUICE_TRY(const int applied, applied_version(*lease));
  return SchemaVersion{applied, known_version()};
}

Result<std::vector<MigrationStep>> PostgresStore::migrate() {
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  SLUICE_CHECK(refuse_foreign(*lease));
  std::vector<MigrationStep> steps;
  // One transaction each: a kill leaves whole migrations behind, and the next run goes on from there.
  for (const pg_sql::Migration& migration : pg_sql::migrations) {
    SLUICE_CHECK(lease->script(pg_sql::migration_begin.text));
    const Result<bool> applied = apply(*lease, migration);
    if (!applied) {
      (void)lease->script("rollback");
      Error error = applied.error();
      if (error.code != ErrorCode::schema)
        error.message = "migration " + std::string{migration.name} + ": " + error.message;
      return error;
    }
    SLUICE_CHECK(lease->script("commit"));
    steps.push_back({migration.version, std::string{migration.name}, *applied});
  }
  const bool changed =
      std::any_of(steps.begin(), steps.end(), [](const MigrationStep& step) { return step.applied_now; });
  SLUICE_CHECK(changed ? renew_grants(*lease) : Result<void>{});
  return steps;
}

Result<std::vector<std::string>> PostgresStore::validate() {
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  SLUICE_TRY(const int applied, applied_version(*lease));
  std::vector<std::string> findings;
  if (applied == 0) return std::vector<std::string>{"the schema is missing: run `sluice db migrate`"};
  if (applied < known_version()) {
    findings.push_back("the schema is at version " + std::to_string(applied) + ", this build needs " +
                       std::to_string(known_version()) + ": run `sluice db migrate`");
  }
  if (applied > known_version()) {
    const Error newer = newer_schema({applied, known_version()});
    findings.push_back(newer.message + ": " + newer.hint);
  }
  SLUICE_TRY(const std::vector<Error> foreign, foreign_migrations(*lease));
  for (const Error& one : foreign) findings.push_back(one.message);
  SLUICE_TRY(const pq::Rows missing, lease->run(reading(pg_sql::schema_check)));
  for (int row = 0; row < missing.size(); ++row) findings.emplace_back(missing.text(row, 0));
  // Reads events; whoever may not, or another schema, leaves the catalogue's answers above.
  const Result<pq::Rows> behind = lease->run(reading(pg_sql::sequence_check));
  if (!behind && behind.error().code != ErrorCode::forbidden && behind.error().code != ErrorCode::schema) {
    return behind.error();
  }
  for (int row = 0; behind && row < behind->size(); ++row) findings.emplace_back(behind->text(row, 0));
  return findings;
}

std::vector<MigrationText> PostgresStore::migrations() const { return postgres_migrations(); }

std::vector<MigrationText> postgres_migrations() {
  std::vector<MigrationText> texts;
  texts.reserve(pg_sql::migrations.size());
  for (const pg_sql::Migration& migration : pg_sql::migrations) {
    texts.push_back({migration.version, std::string{migration.name}, std::string{migration.text}});
  }
  return texts;
}

Result<std::vector<std::string>> PostgresStore::grant(std::optional<Grant> grant, const std::string& member) {
  SLUICE_TRY(pq::Pool::Lease lease, pool_.lease());
  SLUICE_CHECK(lease->script(pg_sql::grant.text));
  std::vector<std::string> done{"sluice_publisher may publish", "sluice_worker may claim and settle, and read",
                                "sluice_operator may replay, discard and move generations, and read",
                                "sluice_reader may read",
                                "sluice_owner, which nobody can log in as, owns the functions"};
  if (grant) {
    const std::string role = role_of(*grant);
    if (Result<void> joined = lease->script("grant " + role + " to " + lease->quote_identifier(member)); !joined) {
      Error error = joined.error();
      error.field = "member";
      return error;
    }
    done.push_back(member + " is a member of " + role);
  }
  return done;
}

}  // namespace sluice::store
