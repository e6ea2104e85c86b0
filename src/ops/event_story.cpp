#include "ops/event_story.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/try.hpp"
#include "core/words.hpp"
#include "ops/sinks.hpp"
#include "ops/subscriptions.hpp"

namespace sluice::ops {
namespace {

class Timeline {
 public:
  void add(std::optional<Timestamp> at, std::string what, std::string detail) {
    if (at) moments_.push_back({*at, std::move(what), std::move(detail)});
  }
  // Stable: what was added first comes first within the same microsecond.
  std::vector<Moment> sorted() && {
    std::stable_sort(moments_.begin(), moments_.end(), [](const Moment& a, const Moment& b) { return a.at < b.at; });
    return std::move(moments_);
  }

 private:
  std::vector<Moment> moments_;
};

// A bulk replay has one audit record for all its events; the history names it.
std::string replay_detail(const FailedCycle& cycle) {
  std::string detail = "by " + cycle.replayed_by;
  if (!cycle.operation_id.empty()) detail += " in operation " + cycle.operation_id;
  if (!cycle.handler.empty()) detail += " to " + cycle.handler;
  if (!cycle.reason.empty()) detail += ": " + cycle.reason;
  return detail;
}

void add_history(Timeline& line, const store::EventRecord& event, const std::vector<store::AuditRecord>& audit) {
  const auto audited = [&](const FailedCycle& cycle) {
    return std::any_of(audit.begin(), audit.end(), [&](const store::AuditRecord& record) {
      return (record.action == "replay" || record.action == "resend") && record.at == cycle.replayed_at;
    });
  };
  for (const FailedCycle& cycle : read_history(event.failure_history)) {
    const std::string label = "before replay " + std::to_string(cycle.cycle);
    line.add(cycle.first_failed_at, "first_failed", label);
    line.add(cycle.delivered_at, "delivered", "before it was sent again");
    line.add(cycle.failed_at, "failed", label + ", " + counted(cycle.attempts, "attempt") + ": " + cycle.last_error);
    if (!audited(cycle)) line.add(cycle.replayed_at, "replayed", replay_detail(cycle));
  }
}

void add_current_cycle(Timeline& line, const store::EventRecord& event) {
  line.add(event.first_failed_at, "first_failed", event.failure_history == "[]" ? "" : "since the last replay");
  const std::string worker = event.claimed_by.value_or("a worker");
  const std::string claim = "by " + worker + ", claim " + std::to_string(event.claim_seq);
  const std::string failures =
      counted(event.attempts, "attempt") + ": " + event.last_error.value_or("no error recorded");
  switch (event.status) {
    case Status::failed:
      line.add(event.failed_at ? event.failed_at : event.claimed_at, "failed", failures);
      break;
    case Status::pending:
      if (event.retry_after && !event.deleted_at) {
        line.add(event.retry_after, "due", event.attempts > 0 ? "next try after " + failures : "");
      }
      break;
    case Status::in_flight:
    case Status::delivered:
      line.add(event.claimed_at, "claimed", claim);
      break;
  }
}

std::string in_past_tense(const std::string& action) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kWords{{{"replay", "replayed"},
                                                                                 {"resend", "sent_again"},
                                                                                 {"reschedule", "rescheduled"},
                                                                                 {"cancel", "cancelled"},
                                                                                 {"edit", "edited"}}};
  for (const auto& [verb, past] : kWords) {
    if (action == verb) return std::string{past};
  }
  return action;
}

bool is_subscribed(const store::EventRecord& event, const std::vector<store::SubscriptionRecord>& subscriptions) {
  const Route route{event.envelope.event_type(), event.envelope.target(), event.channel};
  return std::any_of(subscriptions.begin(), subscriptions.end(), [&](const store::SubscriptionRecord& record) {
    return record.generation == event.generation && record.subscription.matches(route);
  });
}

/// The handlers that have not handled an event: those that a live worker runs, and the others.
struct Service {
  std::vector<std::string> served;
  std::vector<std::string> unserved;
};
Service by_service(Generation generation, const std::vector<HandlerState>& handlers,
                   const std::vector<store::WorkerRecord>& workers) {
  Service service;
  for (const HandlerState& handler : handlers) {
    if (handler.state != HandlerState::State::waiting) continue;
    const bool served = std::any_of(workers.begin(), workers.end(), [&](const store::WorkerRecord& worker) {
      return worker.generation == generation &&
             std::find(worker.handlers.begin(), worker.handlers.end(), handler.handler_name) != worker.handlers.end();
    });
    (served ? service.served : service.unserved).push_back(handler.handler_name);
  }
  return service;
}

/// What the sinks that take no deliveries mean for an event.
struct StoppedSinks {
  std::optional<Wait> wait;          ///< none: none of them is on its way
  bool all = false;                  ///< whoever has not handled it is served by one of them
  std::optional<Timestamp> longest;  ///< until when a circuit rests
};
StoppedSinks stopped_on_the_way(const std::vector<HandlerState>& handlers,
                                const std::vector<store::SinkRecord>& sinks) {
  StoppedSinks stopped;
  std::size_t waiting = 0;
  std::vector<std::string> names;
  std::vector<std::string> words;
  for (const HandlerState& handler : handlers) {
    waiting += handler.state == HandlerState::State::waiting ? 1 : 0;
  }
  for (const store::SinkRecord& sink : sinks) {
    if (sink.takes_deliveries()) continue;
    const std::size_t before = names.size();
    for (const HandlerState& handler : handlers) {
      const auto& served = sink.declared.handlers;
      const bool through = std::find(served.begin(), served.end(), handler.handler_name) != served.end();
      if (handler.state == HandlerState::State::waiting && through) names.push_back(handler.handler_name);
    }
    if (names.size() == before) continue;
    words.push_back("sink " + sink.declared.name + " is " + why_stopped(sink));
    if (sink.state == SinkSwitch::active) stopped.longest = std::max(stopped.longest, sink.open_until);
  }
  if (names.empty()) return stopped;
  stopped.all = names.size() >= waiting;
  stopped.wait = Wait{Wait::What::sink, stopped.longest, {}, std::move(names), joined(words, "; ")};
  return stopped;
}

Result<std::vector<Wait>> look_around(store::Administering& store, const store::EventRecord& event,
                                      const std::vector<HandlerState>& handlers, const store::Registry& registry) {
  if (event.status != Status::pending || event.deleted_at) return std::vector<Wait>{};
  SLUICE_TRY(const auto now, store.now());
  SLUICE_TRY(const auto blocker, store.key_blocker(event));
  SLUICE_TRY(auto workers, store.workers(kAliveWithin));
  SLUICE_TRY(auto sinks, store.sinks());
  return waits_of(event, handlers,
                  {now, blocker, registry.subscriptions, std::move(workers), std::move(sinks.sinks),
                   !store.capabilities().embedded});
}

}  // namespace

int attempts_made(const store::EventRecord& event) {
  return event.attempts + (event.status == Status::delivered ? 1 : 0);
}

std::string attempt_text(const store::AttemptRecord& record) {
  const Attempt& attempt = record.attempt;
  std::string text = attempt.handler_name.empty() ? "a handler" : attempt.handler_name;
  switch (attempt.outcome) {
    case AttemptOutcome::handled:
      text += " handled it in " + brief_duration(attempt.took);
      break;
    case AttemptOutcome::failed:
      text += " failed after " + brief_duration(attempt.took);
      break;
    case AttemptOutcome::expired:
      text += ": the claim expired after " + brief_duration(attempt.took);
      break;
  }
  if (!attempt.error.empty() && attempt.outcome == AttemptOutcome::failed) return text + ": " + attempt.error;
  return attempt.status_code == 0 ? text : text + ", answer " + std::to_string(attempt.status_code);
}

std::vector<Moment> timeline(const store::EventRecord& event, const std::vector<store::HandledRecord>& handled,
                             const std::vector<store::AuditRecord>& audit,
                             const std::vector<store::AttemptRecord>& attempts) {
  Timeline line;
  line.add(event.envelope.occurred_at(), "occurred", "in " + event.envelope.source());
  line.add(event.published_at, "published",
           "generation " + std::to_string(event.generation) + ", channel " + event.channel);
  add_history(line, event, audit);
  for (const auto& record : attempts) {
    line.add(record.attempt.started_at, "attempt", std::to_string(record.number) + ": " + attempt_text(record));
  }
  for (const auto& record : audit) {
    std::string detail = "by " + record.actor.name + " through " + record.actor.surface;
    if (!record.actor.reason.empty()) detail += ": " + record.actor.reason;
    line.add(record.at, in_past_tense(record.action), std::move(detail));
  }
  add_current_cycle(line, event);
  for (const auto& record : handled) line.add(record.handled_at, "handled", "by " + record.key.handler_name);
  line.add(event.delivered_at, "delivered", "");
  return std::move(line).sorted();
}

std::string_view name(HandlerState::State state) {
  switch (state) {
    case HandlerState::State::handled:
      return "handled";
    case HandlerState::State::out_of_attempts:
      return "out_of_attempts";
    case HandlerState::State::set_aside:
      return "set_aside";
    case HandlerState::State::waiting:
      break;
  }
  return "waiting";
}

std::vector<HandlerState> handler_states(const store::EventRecord& event,
                                         const std::vector<store::HandledRecord>& handled,
                                         const std::vector<store::SubscriptionRecord>& subscriptions) {
  std::vector<HandlerState> states;
  const auto known = [&](const std::string& handler) {
    return std::any_of(states.begin(), states.end(), [&](const auto& state) { return state.handler_name == handler; });
  };
  for (const auto& record : handled) {
    HandlerState state;
    state.handler_name = record.key.handler_name;
    state.state = HandlerState::State::handled;
    state.handled_at = record.handled_at;
    states.push_back(std::move(state));
  }
  for (const HandlerProgress& progress : event.progress) {
    if (known(progress.handler_name)) continue;
    HandlerState state;
    state.handler_name = progress.handler_name;
    state.state = progress.out_of_attempts ? HandlerState::State::out_of_attempts : HandlerState::State::waiting;
    if (progress.aside && event.status != Status::failed) state.state = HandlerState::State::set_aside;
    state.attempts = progress.attempts;
    if (!progress.out_of_attempts) state.due = progress.due;
    state.last_error = progress.last_error;
    states.push_back(std::move(state));
  }
  const Route route{event.envelope.event_type(), event.envelope.target(), event.channel};
  for (const auto& record : subscriptions) {
    const std::string& handler = record.subscription.handler_name;
    if (record.generation != event.generation || !record.subscription.matches(route) || known(handler)) continue;
    HandlerState state;
    state.handler_name = handler;
    // With one handler the row itself tells its attempts. Who subscribed after the event had failed made none of them.
    const bool came_later = event.failed_at && record.registered_at > *event.failed_at;
    if (event.progress.empty() && !came_later) {
      state.attempts = event.attempts;
      state.last_error = event.last_error.value_or("");
    }
    if (event.status == Status::failed && !came_later) state.state = HandlerState::State::out_of_attempts;
    states.push_back(std::move(state));
  }
  return states;
}

std::string_view name(Wait::What what) {
  switch (what) {
    case Wait::What::sink:
      return "sink";
    case Wait::What::time:
      return "time";
    case Wait::What::key:
      return "key";
    case Wait::What::subscriber:
      return "subscriber";
    case Wait::What::worker:
      return "worker";
    case Wait::What::claim:
      break;
  }
  return "claim";
}

std::vector<Wait> waits_of(const store::EventRecord& event, const std::vector<HandlerState>& handlers,
                           const Surroundings& around) {
  std::vector<Wait> waits;
  if (event.status != Status::pending || event.deleted_at) return waits;
  const StoppedSinks stopped = stopped_on_the_way(handlers, around.sinks);
  if (stopped.wait) waits.push_back(*stopped.wait);
  // Where nothing else is on its way, being deferred is what the sink does to it, and no date of its own.
  const Timestamp deferred = std::max(around.now, stopped.longest.value_or(around.now)) + kStoppedSinkWait;
  const bool only_deferred = stopped.all && event.retry_after && *event.retry_after <= deferred;
  const bool parked =
      around.parks && around.key_blocker && event.retry_after && *event.retry_after <= around.now + kParked;
  if (event.retry_after && *event.retry_after > around.now && !only_deferred && !parked) {
    const std::string_view label = event.attempts > 0 ? "next retry at " : "scheduled for ";
    waits.push_back({Wait::What::time, event.retry_after, {}, {}, std::string{label} + to_iso8601(*event.retry_after)});
  }
  if (around.key_blocker) {
    waits.push_back({Wait::What::key,
                     {},
                     around.key_blocker,
                     {},
                     "event " + around.key_blocker->to_string() + " of ordering key " +
                         event.ordering_key.value_or("") + " goes first"});
  }
  const std::string generation = "generation " + std::to_string(event.generation);
  if (!is_subscribed(event, around.subscriptions)) {
    waits.push_back({Wait::What::subscriber,
                     {},
                     {},
                     {},
                     "nobody subscribes to " + event.envelope.event_type() + " in " + generation});
    return waits;
  }
  const auto [served, unserved] = by_service(event.generation, handlers, around.workers);
  if (served.empty() && !unserved.empty()) {
    waits.push_back({Wait::What::worker,
                     {},
                     {},
                     unserved,
                     "subscribed by " + joined(unserved, ", ") + ", but no worker of " + generation + " that runs " +
                         (unserved.size() == 1 ? "it" : "one of them") + " is alive"});
  }
  if (waits.empty()) {
    const Timestamp due = event.retry_after.value_or(event.published_at);
    waits.push_back(
        {Wait::What::claim, {}, {}, served, "due since " + to_iso8601(due) + ": the next free worker takes it"});
  }
  return waits;
}

Result<EventStory> tell_story(store::Administering& store, const Uuid& id) {
  SLUICE_TRY(auto event, store.get_event(id));
  SLUICE_TRY(auto handled, store.handled(event));
  SLUICE_TRY(auto audit, store.audit_of(id));
  SLUICE_TRY(auto attempts, store.attempts_of(id));
  SLUICE_TRY(const auto registry, store.registry(event.generation));
  std::vector<Moment> moments = timeline(event, handled, audit, attempts);
  std::vector<HandlerState> handlers = handler_states(event, handled, registry.subscriptions);
  SLUICE_TRY(auto waits, look_around(store, event, handlers, registry));
  return EventStory{std::move(event),    std::move(handled), std::move(audit),   std::move(moments),
                    std::move(handlers), std::move(waits),   std::move(attempts)};
}

}  // namespace sluice::ops
