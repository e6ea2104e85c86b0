// Schema work: what a migration would do, and who may be granted what.
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

/// publisher, worker, operator, reader.
std::optional<store::Grant> parse_grant(std::string_view role);
std::string_view name(store::Grant grant);

/// Refuses where the store has no roles; otherwise as Administering::grant.
Result<std::vector<std::string>> grant(store::Administering& store, std::optional<store::Grant> grant,
                                       const std::string& member);
/// The refusal alone, for a dry run.
Result<void> check_grants(const store::Administering& store);

}  // namespace sluice::ops
