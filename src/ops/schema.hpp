// The store itself: its schema, its roles, its doorbell, its clock.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/administer.hpp"

namespace sluice::ops {

/// The migrations that are not applied yet, none of them applied now. A schema that is newer than
/// this build is refused. Changes nothing.
Result<std::vector<store::MigrationStep>> plan_migration(store::Administering& store);

/// Applies them; every known one, with those marked that were applied now.
Result<std::vector<store::MigrationStep>> migrate(store::Administering& store);
Result<store::SchemaVersion> schema_version(store::Administering& store);
/// What differs from what this build expects; empty: nothing does.
Result<std::vector<std::string>> validate_schema(store::Administering& store);

/// publisher, worker, operator, reader.
std::optional<store::Grant> parse_grant(std::string_view role);
std::string_view name(store::Grant grant);

/// Refuses where the store has no roles; otherwise as Administering::grant.
Result<std::vector<std::string>> grant(store::Administering& store, std::optional<store::Grant> grant,
                                       const std::string& member);
/// The file path, or the DSN without its password.
std::string name_of(const store::Administering& store);
/// Whether publishes wake workers by LISTEN and NOTIFY.
bool listens(const store::Administering& store);
/// The store's clock.
Result<Timestamp> now(store::Administering& store);
/// Whether it answers and has its schema: what a worker of the generation asks for first.
Result<void> check_ready(store::Administering& store, Generation generation);

/// The refusal alone, for a dry run.
Result<void> check_grants(const store::Administering& store);

// When a publish notifies workers: reading and changing the mode.

/// `always` or `when-idle`.
std::optional<store::DoorbellMode> parse_doorbell(std::string_view text);

/// Refuses where the store has no doorbell to set; otherwise the mode.
Result<store::DoorbellMode> doorbell(store::Administering& store);
/// The same refusal; otherwise as Administering::set_doorbell.
Result<void> set_doorbell(store::Administering& store, store::DoorbellMode mode, const store::Actor& actor);

}  // namespace sluice::ops
