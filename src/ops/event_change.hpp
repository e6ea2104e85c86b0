// What an operator does to one event besides replaying and discarding a dead letter: run a pending one now or later,
// cancel it, send a delivered one again, replay to one handler or with another payload.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/tracer.hpp>
#include "ops/contracts.hpp"
#include "store/administer.hpp"

namespace sluice::ops {

/// What can be done to an event in its state, by name: run_now, reschedule, cancel, restore, replay, edit_replay,
/// discard, resend. The store decides again when it is done.
std::vector<std::string_view> actions_of(const store::EventRecord& event);

/// A pending event after a change.
struct PendingChange {
  Uuid event_id;
  std::optional<Timestamp> due;  ///< none: it is cancelled
};
std::string to_json(const PendingChange& change);

/// All three: conflict unless the event is pending; needs a reason.
Result<PendingChange> run_now(store::Administering& store, const Uuid& id, const store::Actor& actor);
/// `at` is a time like 2026-04-25T01:43:02Z, or a duration like 2h from now; the error names `field`.
Result<PendingChange> reschedule(store::Administering& store, const Uuid& id, const std::string& at,
                                 const store::Actor& actor, const std::string& field = "at");
Result<PendingChange> cancel_event(store::Administering& store, const Uuid& id, const store::Actor& actor);

// Each of these is a span of the event's trace, with a tracer.

/// For this handler alone.
struct HandlerTarget {
  Uuid event_id;
  std::string handler_name;
  /// None: of a delivered event its own, unless that is retired; else the newest live one.
  std::optional<Generation> to_generation;
};
/// A delivered event: the handler forgets that it has handled it and runs again; the others do not. Needs a reason.
Result<store::ReplayReport> resend_event(store::Administering& store, const HandlerTarget& target,
                                         const store::Actor& actor, Tracer* tracer = nullptr);
/// A dead letter; whoever else has not handled it stays out of attempts. Needs a reason.
Result<store::ReplayReport> replay_to_handler(store::Administering& store, const HandlerTarget& target,
                                              const store::Actor& actor, Tracer* tracer = nullptr);

/// Whether payloads of dead letters may be changed here at all, and what a payload may be.
struct EditPolicy {
  bool enabled = false;  ///< edit_replay in the configuration
  EnvelopeLimits limits;
};
struct EditRequest {
  Uuid event_id;
  std::string payload;  ///< JSON text
  std::optional<Generation> to_generation;
  const ContractSet* contracts = nullptr;  ///< what it must conform to, where one is for its type
};
/// A dead letter with another payload, in place: the history keeps the one before. forbidden unless the policy allows
/// it; invalid (field `payload`) for what could not be published. Needs a reason.
Result<store::ReplayReport> replay_edited(store::Administering& store, const EditPolicy& policy,
                                          const EditRequest& request, const store::Actor& actor,
                                          Tracer* tracer = nullptr);

}  // namespace sluice::ops
