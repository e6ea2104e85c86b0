// Replay, discard and restore of one dead letter.
#pragma once

#include <optional>
#include <string>

#include "store/store.hpp"

namespace sluice::ops {

/// In place, into the given generation or else the store's newest live one. Needs a reason: the audit keeps
/// it. conflict when the event is not a dead letter (any more).
Result<store::ReplayReport> replay_event(store::Administering& store, const Uuid& id,
                                         std::optional<Generation> to_generation, const store::Actor& actor);

std::string to_json(const store::ReplayReport& report);
/// Both need a reason. conflict when the event is in no state for it.
Result<void> discard_event(store::Administering& store, const Uuid& id, const store::Actor& actor);
Result<void> restore_event(store::Administering& store, const Uuid& id, const store::Actor& actor);

/// Of a discard or a restore.
std::string discarded_json(const Uuid& id, bool discarded);

}  // namespace sluice::ops
