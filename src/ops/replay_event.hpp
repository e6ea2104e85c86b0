// Replay, discard and restore of one dead letter.
#pragma once

#include <optional>
#include <string>

#include "store/administer.hpp"

namespace sluice::ops {

/// In place, into the given generation or else the store's newest live one. Needs a reason: the audit keeps
/// it. conflict when the event is not a dead letter (any more).
Result<store::ReplayReport> replay_event(store::Administering& store, const Uuid& id,
                                         std::optional<Generation> to_generation, const store::Actor& actor);

std::string to_json(const store::ReplayReport& report);
/// Of a discard or a restore.
std::string discarded_json(const Uuid& id, bool discarded);

}  // namespace sluice::ops
