// Deployment generations: what a change of them would do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace sluice::ops {

/// What allocating would yield; conflict when `wanted` exists already. Changes nothing.
Result<Generation> preview_allocation(store::Administering& store, std::optional<Generation> wanted);

/// The next free number, or `wanted`; conflict when that exists already.
Result<store::Deployment> allocate_generation(store::Administering& store, std::optional<Generation> wanted,
                                              const std::string& note, const store::Actor& actor);

/// Where events go of those who name no generation: the newest live one.
Result<Generation> default_generation(store::Administering& store);

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
