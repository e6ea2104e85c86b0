// Retiring a generation: the gate, and what stands in the way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/generations.hpp"

namespace sluice::ops {

struct RetireCheck {
  GenerationStatus status;
  std::optional<Timestamp> next_due;  ///< of the events that are not due yet
  std::vector<std::string> workers;   ///< identities of those alive
  std::vector<store::OpenPublisher> publishers;
  std::vector<std::string> blockers;  ///< one sentence each
  std::vector<std::string> remarks;   ///< good to know, not in the way

  [[nodiscard]] bool retirable() const { return blockers.empty(); }
};

/// "Can it be retired?" not_found when it was never allocated. Changes nothing.
Result<RetireCheck> check_retire(store::Administering& store, Generation generation);

/// Refuses what may not be retired; `force` leaves behind what is pending or in flight, but the state has to be
/// draining all the same, and no transaction may be open that can still publish: nobody knows what it leaves behind.
/// Changes nothing.
Result<void> allow_retire(const RetireCheck& check, bool force);

/// Checks, and retires what may be.
Result<store::Deployment> retire_generation(store::Administering& store, Generation generation, bool force,
                                            const store::Actor& actor);

std::string to_json(const RetireCheck& check);

}  // namespace sluice::ops
