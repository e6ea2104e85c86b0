#include <cstdio>
#include <map>

#include "core/try.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/sqlite/sqlite_store_impl.hpp"

namespace sluice::store::sqlite {
namespace {

int known_version() { return sql::migrations.back().version; }

/// FNV-1a, 64 bits: tells an edited migration from the one that was applied.
std::string checksum(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char character : text) {
    hash ^= static_cast<unsigned char>(character);
    hash *= 0x100000001b3U;
  }
  std::array<char, 17> hex{};
  std::snprintf(hex.data(), hex.size(), "%016llx", static_cast<unsigned long long>(hash));
  return hex.data();
}

using Applied = std::map<int, std::string>;  // version → checksum

Result<Applied> applied_migrations(Connection& connection) {
  SLUICE_TRY(auto tables, connection.first(sql::migration_table_exists, {}, [](Row& row) { return row.integer(); }));
  Applied applied;
  if (tables.value_or(0) == 0) return applied;
  SLUICE_CHECK(connection.each(sql::migration_list, {}, [&](Row& row) {
    const int version = static_cast<int>(row.integer());
    row.view();  // the name is for people
    applied.emplace(version, row.text());
  }));
  return applied;
}

Result<void> refuse_foreign(const Applied& applied) {
  for (const sql::Migration& migration : sql::migrations) {
    const auto found = applied.find(migration.version);
    if (found != applied.end() && found->second != checksum(migration.text)) return foreign_schema(migration.name);
  }
  if (!applied.empty() && applied.rbegin()->first > known_version()) {
    return newer_schema({applied.rbegin()->first, known_version()});
  }
  return {};
}

/// Applies what is missing, in the caller's transaction.
Result<std::vector<MigrationStep>> bring_up_to_date(Connection& connection, Timestamp now) {
  SLUICE_TRY(auto applied, applied_migrations(connection));
  SLUICE_CHECK(refuse_foreign(applied));
  SLUICE_CHECK(connection.run(sql::migration_table, {}));
  std::vector<MigrationStep> steps;
  for (const sql::Migration& migration : sql::migrations) {
    const bool missing = !applied.contains(migration.version);
    if (missing) {
      SLUICE_CHECK(connection.script(migration.text));
      SLUICE_CHECK(connection.run(sql::migration_record, {{":version", migration.version},
                                                          {":name", migration.name},
                                                          {":checksum", checksum(migration.text)},
                                                          {":now", now}}));
    }
    steps.push_back({migration.version, std::string{migration.name}, missing});
  }
  return steps;
}

using Objects = std::map<std::string, std::string>;  // "table outbox" → its definition

Result<Objects> schema_objects(Connection& connection) {
  Objects objects;
  SLUICE_CHECK(connection.each(sql::schema_objects, {}, [&](Row& row) {
    std::string object = row.text();
    objects.emplace(std::move(object), row.text());
  }));
  return objects;
}

/// What a store of this build looks like, from a database in memory.
Result<Objects> expected_objects(Timestamp now) {
  SLUICE_TRY(auto memory, Connection::open({":memory:", true, Duration{}}));
  SLUICE_CHECK(bring_up_to_date(*memory, now));
  return schema_objects(*memory);
}

std::vector<std::string> differences(const Objects& expected, const Objects& found) {
  std::vector<std::string> findings;
  for (const auto& [object, definition] : expected) {
    const auto there = found.find(object);
    if (there == found.end()) {
      findings.push_back(object + " is missing");
    } else if (there->second != definition) {
      findings.push_back(object + " differs from what this build expects");
    }
  }
  for (const auto& [object, definition] : found) {
    if (!expected.contains(object)) findings.push_back(object + " is not part of the schema of this build");
  }
  return findings;
}

}  // namespace

Result<SchemaVersion> SqliteStore::schema_version() {
  return database_->read([&](Connection& connection) -> Result<SchemaVersion> {
    SLUICE_TRY(auto applied, applied_migrations(connection));
    return SchemaVersion{applied.empty() ? 0 : applied.rbegin()->first, known_version()};
  });
}

Result<std::vector<MigrationStep>> SqliteStore::migrate() {
  // Usually there is nothing to do, and then no process should have to wait for a writer.
  SLUICE_TRY(auto current, database_->read([&](Connection& connection) { return applied_migrations(connection); }));
  SLUICE_CHECK(refuse_foreign(current));
  if (current.size() == sql::migrations.size()) {
    std::vector<MigrationStep> steps;
    steps.reserve(sql::migrations.size());
    for (const sql::Migration& migration : sql::migrations) {
      steps.push_back({migration.version, std::string{migration.name}, false});
    }
    return steps;
  }
  return database_->write([&](Connection& connection) { return bring_up_to_date(connection, clock_()); });
}

Result<std::vector<std::string>> SqliteStore::validate() {
  SLUICE_TRY(auto expected, expected_objects(clock_()));
  SLUICE_TRY(auto found, database_->read([&](Connection& connection) { return schema_objects(connection); }));
  return differences(expected, found);
}

std::vector<MigrationText> SqliteStore::migrations() const { return sqlite_migrations(); }

Result<std::vector<std::string>> SqliteStore::grant(std::optional<Grant>, const std::string&) {
  return Error{ErrorCode::invalid, Retry::never, "an embedded store has no roles to grant", "store",
               "roles exist on PostgreSQL only; use the permissions of the file " + path_};
}

}  // namespace sluice::store::sqlite

namespace sluice::store {

std::vector<MigrationText> sqlite_migrations() {
  std::vector<MigrationText> texts;
  texts.reserve(sqlite::sql::migrations.size());
  for (const sqlite::sql::Migration& migration : sqlite::sql::migrations) {
    texts.push_back({migration.version, std::string{migration.name}, std::string{migration.text}});
  }
  return texts;
}

}  // namespace sluice::store
