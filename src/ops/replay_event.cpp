#include "ops/replay_event.hpp"

#include "core/json_object.hpp"
#include "core/try.hpp"
#include "ops/audit.hpp"

namespace sluice::ops {

Result<store::ReplayReport> replay_event(store::Administering& store, const Uuid& id,
                                         std::optional<Generation> to_generation, const store::Actor& actor) {
  SLUICE_CHECK(check_reason(actor.reason));
  if (!to_generation) {
    const auto generation = store.default_generation();
    if (!generation) return generation.error();
    to_generation = *generation;
  }
  return store.replay(id, *to_generation, actor);
}

Result<void> discard_event(store::Administering& store, const Uuid& id, const store::Actor& actor) {
  SLUICE_CHECK(check_reason(actor.reason));
  return store.discard(id, actor);
}

Result<void> restore_event(store::Administering& store, const Uuid& id, const store::Actor& actor) {
  SLUICE_CHECK(check_reason(actor.reason));
  return store.restore(id, actor);
}

std::string to_json(const store::ReplayReport& report) {
  return JsonObject{}
      .uuid("event_id", report.event_id)
      .text("status", "pending")
      .number("cycle", report.cycle)
      .number("attempts", report.attempts)
      .number("from_generation", report.from_generation)
      .number("to_generation", report.to_generation)
      .str();
}

std::string discarded_json(const Uuid& id, bool discarded) {
  return JsonObject{}.uuid("event_id", id).boolean("discarded", discarded).str();
}

}  // namespace sluice::ops
