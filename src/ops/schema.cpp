#include "ops/schema.hpp"

#include <array>
#include <utility>

#include "core/try.hpp"

namespace sluice::ops {
namespace {

constexpr std::array kRoles{std::pair{std::string_view{"publisher"}, store::Grant::publisher},
                            std::pair{std::string_view{"worker"}, store::Grant::worker},
                            std::pair{std::string_view{"operator"}, store::Grant::op},
                            std::pair{std::string_view{"reader"}, store::Grant::reader}};

}  // namespace

Result<std::vector<store::MigrationStep>> plan_migration(store::Migrating& store) {
  const auto version = store.schema_version();
  if (!version) return version.error();
  if (version->applied > version->known) return store::newer_schema(*version);
  std::vector<store::MigrationStep> steps;
  for (const auto& migration : store.migrations()) {
    if (migration.version > version->applied) steps.push_back({migration.version, migration.name, false});
  }
  return steps;
}

Result<std::vector<store::MigrationStep>> migrate(store::Migrating& store) { return store.migrate(); }

Result<store::SchemaVersion> schema_version(store::Migrating& store) { return store.schema_version(); }

Result<std::vector<std::string>> validate_schema(store::Migrating& store) { return store.validate(); }

std::string name_of(const store::Store& store) { return store.display_name(); }

bool listens(const store::Store& store) { return store.capabilities().listen; }

Result<Timestamp> now(store::Administering& store) { return store.now(); }

Result<void> check_ready(store::Store& store, Generation generation) {
  SLUICE_CHECK(store.registry(generation));
  return {};
}

std::optional<store::Grant> parse_grant(std::string_view role) {
  for (const auto& [word, value] : kRoles) {
    if (word == role) return value;
  }
  return std::nullopt;
}

std::string_view name(store::Grant grant) {
  for (const auto& [word, value] : kRoles) {
    if (value == grant) return word;
  }
  return "";
}

Result<void> check_grants(const store::Store& store) {
  if (store.capabilities().roles) return {};
  Error error =
      invalid("store", store.display_name() + " has no roles: an embedded store belongs to whoever can open the file");
  error.hint = "grants are for PostgreSQL; give --store postgres://…";
  return error;
}

Result<std::vector<std::string>> grant(store::Store& store, std::optional<store::Grant> grant,
                                       const std::string& member) {
  if (auto allowed = check_grants(store); !allowed) return std::move(allowed).error();
  return store.grant(grant, member);
}

}  // namespace sluice::ops
