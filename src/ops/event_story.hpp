// Everything that is known about one event, and what happened to it in order.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/administer.hpp"

namespace sluice::ops {

/// What went before one replay: an entry of failure_history.
struct FailedCycle {
  std::int64_t cycle = 0;
  std::int64_t attempts = 0;
  std::string last_error;
  std::optional<Timestamp> first_failed_at;
  std::optional<Timestamp> failed_at;
  std::optional<Timestamp> replayed_at;
  std::string replayed_by;
  std::string reason;
  std::string operation_id;               ///< of a bulk replay
  std::string handler;                    ///< the one that it went to; empty: all that had not handled it
  std::string payload;                    ///< before it was edited, as JSON text; empty: the replay did not change it
  std::optional<Timestamp> delivered_at;  ///< it was delivered, and sent again
};

/// Lenient: members that are missing or of another type are left empty, because rows are also
/// written by hand.
std::vector<FailedCycle> read_history(std::string_view failure_history);

/// The history without the payloads that it keeps.
std::string payloadless_history(std::string_view failure_history);
/// What is shown of a member of an entry, as JSON; none: nothing is.
using HistoryMember = std::function<std::optional<std::string>(std::string_view name, std::string_view value)>;
/// None: it cannot be read.
std::optional<std::string> history_with(std::string_view failure_history, const HistoryMember& shown);

/// What the event carried before a replay that edited it, as JSON text: not_found when that replay did not.
Result<std::string> payload_before(store::Administering& store, const Uuid& id, std::int64_t replay);

struct Moment {
  Timestamp at{};
  std::string what;    ///< occurred, published, first_failed, failed, replayed, claimed, handled, …
  std::string detail;  ///< for people
};

/// A handler that the event is for, or that has handled it.
struct HandlerState {
  enum class State { handled, waiting, out_of_attempts, set_aside };
  std::string handler_name;
  State state = State::waiting;
  std::optional<Timestamp> handled_at;
  int attempts = 0;  ///< failed ones, since the last replay
  std::optional<Timestamp> due;
  std::string last_error;
};
std::string_view name(HandlerState::State state);

/// One of the things that a pending event waits for.
struct Wait {
  enum class What {
    sink,        ///< the sink that it goes to is paused, disabled, or rests with an open circuit
    time,        ///< it is scheduled for later, or its next retry is
    key,         ///< another event of its ordering key goes first
    subscriber,  ///< nobody subscribes to it in its generation
    worker,      ///< somebody subscribes to it, but no live worker runs a handler of it
    claim,       ///< nothing stands in its way: the next free worker takes it
  };
  What what = What::claim;
  std::optional<Timestamp> until;     ///< time; sink: the next try of an open circuit
  std::optional<Uuid> event_id;       ///< key: the event that goes first
  std::vector<std::string> handlers;  ///< worker, sink: whose; claim: those that live workers run
  std::string detail;                 ///< for people
};
std::string_view name(Wait::What what);

/// How many attempts an event has had since its last replay: the failed ones, and of a delivered event the one that
/// succeeded.
int attempts_made(const store::EventRecord& event);

/// `billing.mailer failed after 1.2 s: http_503: …`
std::string attempt_text(const store::AttemptRecord& record);

struct EventStory {
  store::EventRecord event;
  std::vector<store::HandledRecord> handled;
  std::vector<store::AuditRecord> audit;
  std::vector<Moment> timeline;                  ///< by time
  std::vector<HandlerState> handlers;            ///< those that have handled it, then those that have not
  std::vector<Wait> waits_for;                   ///< empty unless it is pending
  std::vector<store::AttemptRecord> attempts{};  ///< the first and the latest; none of an event that never failed
};

/// The timeline is derived: the row keeps what happened since the last replay, history what went before each.
std::vector<Moment> timeline(const store::EventRecord& event, const std::vector<store::HandledRecord>& handled,
                             const std::vector<store::AuditRecord>& audit,
                             const std::vector<store::AttemptRecord>& attempts = {});

/// Who has handled the event, and who of those that subscribe to it in its generation has not.
std::vector<HandlerState> handler_states(const store::EventRecord& event,
                                         const std::vector<store::HandledRecord>& handled,
                                         const std::vector<store::SubscriptionRecord>& subscriptions);

/// How long PostgreSQL puts off an event that another one of its ordering key goes before. Nobody scheduled it for
/// then.
inline constexpr Duration kParked = std::chrono::minutes{10};

/// What is around an event that may keep it waiting.
struct Surroundings {
  Timestamp now{};
  std::optional<Uuid> key_blocker;
  std::vector<store::SubscriptionRecord> subscriptions;  ///< of its generation
  std::vector<store::WorkerRecord> workers;              ///< that are alive
  std::vector<store::SinkRecord> sinks;
  bool parks = false;  ///< the store puts off what waits for its ordering key, by kParked, until the key is free
};

/// Everything that a pending event waits for; of one that is due and wanted: the next claim. Empty in other states.
std::vector<Wait> waits_of(const store::EventRecord& event, const std::vector<HandlerState>& handlers,
                           const Surroundings& around);

Result<EventStory> tell_story(store::Administering& store, const Uuid& id);

}  // namespace sluice::ops
