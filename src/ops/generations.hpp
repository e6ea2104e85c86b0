// Deployment generations: what a change of them would do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace sluice::ops {

/// What allocating would yield; conflict when `wanted` exists already. Changes nothing.
Result<Generation> preview_allocation(store::Administering& store, std::optional<Generation> wanted);

/// The deployment as it is now; not_found when there is none, conflict when it may not go to `to`.
/// Changes nothing.
Result<store::Deployment> preview_move(store::Administering& store, Generation generation, GenerationState to);

/// The error for a generation that nobody allocated.
Error unknown_generation(Generation generation);

std::string to_json(const store::Deployment& deployment);

}  // namespace sluice::ops
