#include <algorithm>

#include "store/postgres/postgres_statement.hpp"
#include "store/postgres/postgres_store_impl.hpp"

namespace sluice::store {
namespace {

int known_version() { return pg_sql::migrations.back().version; }

// Unprepared, like all that runs inside a migrator's transaction: behind a pooler another migrator may have prepared
// the same name on the same server connection, and the error would be the end of the transaction.
Result<int> applied_version(pq::Connection& connection) {
  const Result<pq::Rows> exists = connection.run_unprepared(reading(pg_sql::schema_exists));
  if (!exists) return exists.error();
  if (!exists->boolean(0, 0)) return 0;
  const Result<pq::Rows> version = connection.run_unprepared(reading(pg_sql::schema_version));
  if (!version) return version.error();
  return version->int4(0, 0);
}

// The refusals of those that the ledger has in another form than this build carries.
Result<std::vector<Error>> foreign_migrations(pq::Connection& connection) {
  const Result<pq::Rows> ledger = connection.run(reading(pg_sql::migration_list));
  if (!ledger) return ledger.error();
  std::vector<Error> refusals;
  for (int row = 0; row < ledger->size(); ++row) {
    for (const pg_sql::Migration& migration : pg_sql::migrations) {
      if (migration.version != ledger->int4(row, 0)) continue;
      const Result<pq::Rows> expected =
          connection.run(reading(pg_sql::migration_checksum), pq::Params{}.text(migration.text));
      if (!expected) return expected.error();
      if (expected->text(0, 0) != ledger->text(row, 2)) refusals.push_back(foreign_schema(migration.name));
    }
  }
  return refusals;
}

// Nothing of ours fits upon the tables of other migrations.
Result<void> refuse_foreign(pq::Connection& connection) {
  const Result<int> applied = applied_version(connection);
  if (!applied) return applied.error();
  if (*applied == 0) return {};
  const Result<std::vector<Error>> foreign = foreign_migrations(connection);
  if (!foreign) return foreign.error();
  if (!foreign->empty()) return foreign->front();
  return {};
}

// Inside the migrator's transaction, under its lock.
Result<bool> apply(pq::Connection& connection, const pg_sql::Migration& migration) {
  const Result<int> applied = applied_version(connection);
  if (!applied) return applied.error();
  if (*applied > known_version()) return newer_schema({*applied, known_version()});
  if (*applied >= migration.version) return false;
  if (Result<void> done = connection.script(migration.text); !done) return done.error();
  if (migration.version == 1) {
    if (Result<void> done = connection.script(pg_sql::migration_table.text); !done) return done.error();
  }
  const Result<pq::Rows> noted =
      connection.run_unprepared(writing(pg_sql::migration_record),
                                pq::Params{}.int4(migration.version).text(migration.name).text(migration.text));
  if (!noted) return noted.error();
  return true;
}

// New functions and tables are for the same roles as the old ones.
Result<void> renew_grants(pq::Connection& connection) {
  const Result<pq::Rows> given = connection.run(reading(pg_sql::grants_given));
  if (!given) return given.error();
  if (!given->boolean(0, 0)) return {};
  Result<void> granted = connection.script(pg_sql::grant.text);
  if (granted) return granted;
  Error error = std::move(granted).error();
  error.message = "the schema is up to date, but the rights of the sluice roles could not be renewed: " + error.message;
  error.hint = "run `sluice db grant` as the owner of the schema";
  return error;
}

}  // namespace

Result<SchemaVersion> PostgresStore::schema_version() {
  Result<pq::Pool::Lease> lease = pool_.lease();
  if (!lease) return lease.error();
  const Result<int> applied = applied_version(**lease);
  if (!applied) return applied.error();
  return SchemaVersion{*applied, known_version()};
}

Result<std::vector<MigrationStep>> PostgresStore::migrate() {
  Result<pq::Pool::Lease> lease = pool_.lease();
  if (!lease) return lease.error();
  if (Result<void> ours = refuse_foreign(**lease); !ours) return ours.error();
  std::vector<MigrationStep> steps;
  // One transaction each: a kill leaves whole migrations behind, and the next run goes on from there.
  for (const pg_sql::Migration& migration : pg_sql::migrations) {
    if (Result<void> begun = (*lease)->script(pg_sql::migration_begin.text); !begun) return begun.error();
    const Result<bool> applied = apply(**lease, migration);
    if (!applied) {
      (void)(*lease)->script("rollback");
      Error error = applied.error();
      if (error.code != ErrorCode::schema)
        error.message = "migration " + std::string{migration.name} + ": " + error.message;
      return error;
    }
    if (Result<void> committed = (*lease)->script("commit"); !committed) return committed.error();
    steps.push_back({migration.version, std::string{migration.name}, *applied});
  }
  const bool changed =
      std::any_of(steps.begin(), steps.end(), [](const MigrationStep& step) { return step.applied_now; });
  if (Result<void> granted = changed ? renew_grants(**lease) : Result<void>{}; !granted) return granted.error();
  return steps;
}

Result<std::vector<std::string>> PostgresStore::validate() {
  Result<pq::Pool::Lease> lease = pool_.lease();
  if (!lease) return lease.error();
  const Result<int> applied = applied_version(**lease);
  if (!applied) return applied.error();
  std::vector<std::string> findings;
  if (*applied == 0) return std::vector<std::string>{"the schema is missing: run `sluice db migrate`"};
  if (*applied < known_version()) {
    findings.push_back("the schema is at version " + std::to_string(*applied) + ", this build needs " +
                       std::to_string(known_version()) + ": run `sluice db migrate`");
  }
  if (*applied > known_version()) {
    const Error newer = newer_schema({*applied, known_version()});
    findings.push_back(newer.message + ": " + newer.hint);
  }
  const Result<std::vector<Error>> foreign = foreign_migrations(**lease);
  if (!foreign) return foreign.error();
  for (const Error& one : *foreign) findings.push_back(one.message);
  const Result<pq::Rows> missing = (*lease)->run(reading(pg_sql::schema_check));
  if (!missing) return missing.error();
  for (int row = 0; row < missing->size(); ++row) findings.emplace_back(missing->text(row, 0));
  // Reads events; whoever may not, or another schema, leaves the catalogue's answers above.
  const Result<pq::Rows> behind = (*lease)->run(reading(pg_sql::sequence_check));
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

}  // namespace sluice::store
