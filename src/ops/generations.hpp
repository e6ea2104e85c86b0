// Deployment generations: what a change of them would do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/administer.hpp"

namespace sluice::ops {

/// What allocating would yield; conflict when `wanted` exists already. Changes nothing.
Result<Generation> preview_allocation(store::Administering& store, std::optional<Generation> wanted);

/// A generation after a change, or as it was found.
struct MovedGeneration {
  store::Deployment deployment;
  bool changed = true;  ///< false: it was there already, and nothing was written
};
/// To `to`; a deployment that is repeated finds the generation where it left it, which is no error.
Result<MovedGeneration> move_generation(store::Administering& store, Generation generation, GenerationState to,
                                        const store::Actor& actor);

/// The deployment as it is now, which may be in `to` already; not_found when there is none, conflict when it may not go
/// there. Changes nothing.
Result<store::Deployment> preview_move(store::Administering& store, Generation generation, GenerationState to);

/// The error for a generation that nobody allocated.
Error unknown_generation(Generation generation);

std::string to_json(const store::Deployment& deployment);

}  // namespace sluice::ops
