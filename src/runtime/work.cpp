#include "runtime/work.hpp"

#include <algorithm>
#include <utility>

#include "core/try.hpp"

namespace sluice::runtime {
namespace {

constexpr Duration kRestOfTheUnwanted = std::chrono::seconds{1};

// Without a dedup row nothing tells a second run from the first; a handler that is idempotent and alone
// does not mind.
bool needs_record(const Work& work, std::string_view handler, const DecisionInput& input, std::size_t open) {
  if (work.recorded.contains(handler)) return false;
  const RegisteredHandler* hosted = input.hosted.find(handler);
  const bool alone = open == 1 && work.event.progress.empty() && !work.event.shared;
  return !(alone && hosted != nullptr && hosted->idempotent);
}

// The runs of a failed attempt, and those of an event that failed before: what comes next is read against it. A
// first success is written down on request only, because most deliveries are one.
bool is_kept(const Work& work, const AttemptRules& rules) {
  const auto failed = [](const HandlerNote& note) { return note.outcome.kind == Outcome::Kind::failed; };
  const auto tried = [](const HandlerProgress& one) { return one.attempts > 0; };
  return rules.record_successes || work.event.attempts > 0 || work.event.replay > 0 ||
         std::any_of(work.event.progress.begin(), work.event.progress.end(), tried) ||
         std::any_of(work.notes.begin(), work.notes.end(), failed);
}

std::vector<Attempt> attempts_of(const Work& work, const AttemptRules& rules) {
  std::vector<Attempt> attempts;
  if (!is_kept(work, rules)) return attempts;
  for (const HandlerNote& note : work.notes) {
    auto attempt = attempt_of(note.outcome);
    if (note.deduplicated || !attempt) continue;
    attempt->handler_name = note.handler_name;
    attempt->worker = work.held_by.empty() ? rules.worker : work.held_by;
    attempt->started_at = work.store_time(note.time.began);
    attempt->took = note.time.took;
    attempt->trace_id = trace_id_of(work.event.envelope.trace_context().value_or(""));
    attempts.push_back(*std::move(attempt));
  }
  return attempts;
}

}  // namespace

Route Work::route() const {
  const auto& target = event.envelope.target();
  return {event.envelope.event_type(), target ? std::optional<std::string_view>{*target} : std::nullopt, event.channel};
}

Timestamp Work::store_now() const { return store_time(std::chrono::steady_clock::now()); }

Timestamp Work::store_time(std::chrono::steady_clock::time_point at) const {
  return event.claimed_at + std::chrono::duration_cast<Duration>(at - claimed);
}

bool Work::has_run() const {
  return std::any_of(notes.begin(), notes.end(), [](const HandlerNote& note) { return note.retry != nullptr; });
}

bool Work::has_run(const std::string& handler) const {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const HandlerNote& note) { return note.retry != nullptr && note.handler_name == handler; });
}

void Work::note(const RegisteredHandler& handler, Ran ran, double uniform01) {
  notes.push_back(
      {handler.name(), std::move(ran.outcome), ran.time, false, std::move(ran.traceparent), &handler.retry, uniform01});
}

Result<void> find_handled(store::Claiming& store, std::span<Work> works, std::span<const HandlerList> handlers) {
  std::vector<store::HandledKey> keys;
  for (std::size_t i = 0; i < works.size(); ++i) {
    for (const std::string& handler : handlers[i]) {
      keys.push_back({handler, works[i].event.envelope.idempotency_key()});
    }
  }
  if (keys.empty()) return {};
  SLUICE_TRY(const auto found, store.already_handled(keys));
  if (found.empty()) return {};
  const std::set<store::HandledKey> known(found.begin(), found.end());
  for (std::size_t i = 0; i < works.size(); ++i) {
    for (const std::string& handler : handlers[i]) {
      if (known.contains({handler, works[i].event.envelope.idempotency_key()})) works[i].handled_before.insert(handler);
    }
  }
  return {};
}

Result<void> find_replays(store::Claiming& store, std::span<Work> works) {
  std::vector<Uuid> again;
  for (const Work& work : works) {
    if (work.event.claim.claim_seq > 1) again.push_back(work.event.claim.event_id);
  }
  if (again.empty()) return {};
  SLUICE_TRY(const auto known, store.relayed(again));
  for (const store::RelayedEvent& one : known) {
    for (Work& work : works) {
      if (work.event.claim.event_id != one.event_id) continue;
      work.event.replay = one.replay;
      work.event.replayed_at = one.replayed_at;
    }
  }
  return {};
}

Outcome unreadable_outcome(const store::ClaimedEvent& event) {
  return Outcome::failed({std::string{error_class::payload}, event.unreadable.value_or(""), {}, true});
}

void decide_work(Work& work, const DecisionInput& input) {
  store::SettleItem& decision = work.decision;
  decision = {};
  decision.claim = work.event.claim;
  decision.attempts = attempts_of(work, input.attempts);
  if (work.event.unreadable) {
    decision.settlement = settle(work.event.attempts, unreadable_outcome(work.event), {}, 0.0);
    return;
  }

  const std::vector<std::string>& subscribed = input.routes.matching(work.route());
  // Nobody wants it any more, or it was not tried: back as it was.
  if (subscribed.empty() || (work.release && !work.has_run())) {
    decision.settlement = settle(work.event.attempts, Outcome::released(), {}, 0.0);
    decision.settlement.progress = work.event.progress;
    // Claimed for a subscription that has just gone: not again at once.
    if (subscribed.empty()) decision.settlement.delay = kRestOfTheUnwanted;
    return;
  }
  std::vector<std::string_view> open;
  open.reserve(subscribed.size());
  for (const std::string& handler : subscribed) {
    if (!work.handled_before.contains(handler)) open.push_back(handler);
  }
  std::vector<HandlerRun> runs;
  runs.reserve(work.notes.size());
  for (const HandlerNote& note : work.notes) {
    if (note.retry != nullptr) runs.push_back({note.handler_name, note.outcome, *note.retry, note.uniform01});
  }
  Decision made = decide({.attempts = work.event.attempts,
                          .progress = work.event.progress,
                          .open = open,
                          .runs = runs,
                          .served = input.registry.served,
                          .hosted = input.hosted.names(),
                          .now = work.store_now()});
  decision.settlement = std::move(made.settlement);
  for (const std::string_view handler : made.handled_by) {
    if (needs_record(work, handler, input, open.size())) decision.handled_by.emplace_back(handler);
  }
  if (!decision.handled_by.empty()) decision.idempotency_key = work.event.envelope.idempotency_key();
}

}  // namespace sluice::runtime
