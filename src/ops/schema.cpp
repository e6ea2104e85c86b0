#include "ops/schema.hpp"

#include <array>
#include <utility>

#include "core/try.hpp"
#include "ops/audit.hpp"

namespace sluice::ops {
namespace {

constexpr std::array kRoles{std::pair{std::string_view{"publisher"}, store::Grant::publisher},
                            std::pair{std::string_view{"worker"}, store::Grant::worker},
                            std::pair{std::string_view{"operator"}, store::Grant::op},
                            std::pair{std::string_view{"reader"}, store::Grant::reader}};

Result<void> check_doorbell(const store::Administering& store) {
  if (store.capabilities().listen) return {};
  Error error =
      invalid("store", store.display_name() +
                           " has no doorbell: an embedded store wakes its own process and is polled by others");
  error.hint = "doorbell modes are for PostgreSQL; give --store postgres://…";
  return error;
}

}  // namespace

Result<std::vector<store::MigrationStep>> plan_migration(store::Administering& store) {
  SLUICE_TRY(const auto version, store.schema_version());
  if (version.applied > version.known) return store::newer_schema(version);
  std::vector<store::MigrationStep> steps;
  for (const auto& migration : store.migrations()) {
    if (migration.version > version.applied) steps.push_back({migration.version, migration.name, false});
  }
  return steps;
}

Result<std::vector<store::MigrationStep>> migrate(store::Administering& store) { return store.migrate(); }

Result<store::SchemaVersion> schema_version(store::Administering& store) { return store.schema_version(); }

Result<std::vector<std::string>> validate_schema(store::Administering& store) { return store.validate(); }

std::string name_of(const store::Administering& store) { return store.display_name(); }

bool listens(const store::Administering& store) { return store.capabilities().listen; }

Result<Timestamp> now(store::Administering& store) { return store.now(); }

Result<void> check_ready(store::Administering& store, Generation generation) {
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

Result<void> check_grants(const store::Administering& store) {
  if (store.capabilities().roles) return {};
  Error error =
      invalid("store", store.display_name() + " has no roles: an embedded store belongs to whoever can open the file");
  error.hint = "grants are for PostgreSQL; give --store postgres://…";
  return error;
}

Result<std::vector<std::string>> grant(store::Administering& store, std::optional<store::Grant> grant,
                                       const std::string& member) {
  SLUICE_CHECK(check_grants(store));
  return store.grant(grant, member);
}

std::optional<store::DoorbellMode> parse_doorbell(std::string_view text) {
  for (const auto mode : {store::DoorbellMode::always, store::DoorbellMode::when_idle}) {
    if (text == store::name(mode)) return mode;
  }
  return std::nullopt;
}

Result<store::DoorbellMode> doorbell(store::Administering& store) {
  SLUICE_CHECK(check_doorbell(store));
  return store.doorbell();
}

Result<void> set_doorbell(store::Administering& store, store::DoorbellMode mode, const store::Actor& actor) {
  SLUICE_CHECK(check_doorbell(store));
  SLUICE_CHECK(check_optional_reason(actor.reason));
  return store.set_doorbell(mode, actor);
}

}  // namespace sluice::ops
