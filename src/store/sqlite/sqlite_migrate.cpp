#include <cstdio>
#include <map>

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
  auto tables = connection.first(sql::has_migrations_table, {}, [](Row& row) { return row.integer(); });
  if (!tables) return std::move(tables).error();
  Applied applied;
  if (tables->value_or(0) == 0) return applied;
  auto listed = connection.each(sql::applied_migrations, {}, [&](Row& row) {
    const int version = static_cast<int>(row.integer());
    row.view();  // the name is for people
    applied.emplace(version, row.text());
  });
  if (!listed) return std::move(listed).error();
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
  auto applied = applied_migrations(connection);
  if (!applied) return std::move(applied).error();
  if (auto ours = refuse_foreign(*applied); !ours) return std::move(ours).error();
  if (auto table = connection.run(sql::create_migrations_table, {}); !table) return std::move(table).error();
  std::vector<MigrationStep> steps;
  for (const sql::Migration& migration : sql::migrations) {
    const bool missing = !applied->contains(migration.version);
    if (missing) {
      if (auto done = connection.script(migration.text); !done) return std::move(done).error();
      auto recorded = connection.run(sql::record_migration, {{":version", migration.version},
                                                             {":name", migration.name},
                                                             {":checksum", checksum(migration.text)},
                                                             {":now", now}});
      if (!recorded) return std::move(recorded).error();
    }
    steps.push_back({migration.version, std::string{migration.name}, missing});
  }
  return steps;
}

using Objects = std::map<std::string, std::string>;  // "table outbox" → its definition

Result<Objects> schema_objects(Connection& connection) {
  Objects objects;
  auto listed = connection.each(sql::schema_objects, {}, [&](Row& row) {
    std::string object = row.text();
    objects.emplace(std::move(object), row.text());
  });
  if (!listed) return std::move(listed).error();
  return objects;
}

/// What a store of this build looks like, from a database in memory.
Result<Objects> expected_objects(Timestamp now) {
  auto memory = Connection::open({":memory:", true, Duration{}});
  if (!memory) return std::move(memory).error();
  if (auto migrated = bring_up_to_date(**memory, now); !migrated) return std::move(migrated).error();
  return schema_objects(**memory);
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
    auto applied = applied_migrations(connection);
    if (!applied) return std::move(applied).error();
    return SchemaVersion{applied->empty() ? 0 : applied->rbegin()->first, known_version()};
  });
}

Result<std::vector<MigrationStep>> SqliteStore::migrate() {
  // Usually there is nothing to do, and then no process should have to wait for a writer.
  auto current = database_->read([&](Connection& connection) { return applied_migrations(connection); });
  if (!current) return std::move(current).error();
  if (auto ours = refuse_foreign(*current); !ours) return std::move(ours).error();
  if (current->size() == sql::migrations.size()) {
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
  auto expected = expected_objects(clock_());
  if (!expected) return std::move(expected).error();
  auto found = database_->read([&](Connection& connection) { return schema_objects(connection); });
  if (!found) return std::move(found).error();
  return differences(*expected, *found);
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
