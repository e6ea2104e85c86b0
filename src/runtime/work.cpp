#include "runtime/work.hpp"

#include <algorithm>
#include <utility>

#include "core/try.hpp"

namespace sluice::runtime {
namespace {

constexpr Duration kRestOfTheUnwanted = std::chrono::seconds{1};

// Without a dedup row nothing tells a second run from the first; a handler that is idempotent and alone
// does not mind.
bool needs_record(const Work& work, const std::string& handler, const DecisionInput& input, std::size_t open) {
  if (work.recorded.contains(handler)) return false;
  const RegisteredHandler* hosted = input.hosted.find(handler);
  const bool alone = open == 1 && work.event.progress.empty() && !work.event.shared;
  return !(alone && hosted != nullptr && hosted->idempotent);
}

}  // namespace

Route Work::route() const {
  const auto& target = event.envelope.target();
  return {event.envelope.event_type(), target ? std::optional<std::string_view>{*target} : std::nullopt, event.channel};
}

Timestamp Work::store_now() const {
  return event.claimed_at + std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - claimed);
}

bool Work::has_run(const std::string& handler) const {
  return std::any_of(runs.begin(), runs.end(), [&](const HandlerRun& run) { return run.handler_name == handler; });
}

void Work::note(const RegisteredHandler& handler, Outcome outcome, Duration took, double uniform01) {
  runs.push_back({handler.name(), outcome, handler.retry, uniform01});
  notes.push_back({handler.name(), std::move(outcome), took, false});
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

Outcome unreadable_outcome(const store::ClaimedEvent& event) {
  return Outcome::failed({std::string{error_class::payload}, event.unreadable.value_or(""), {}, true});
}

void decide_work(Work& work, const DecisionInput& input) {
  store::SettleItem& decision = work.decision;
  decision = {};
  decision.claim = work.event.claim;
  if (work.event.unreadable) {
    decision.settlement = settle(work.event.attempts, unreadable_outcome(work.event), {}, 0.0);
    return;
  }

  const std::vector<std::string>& subscribed = input.routes.matching(work.route());
  // Nobody wants it any more, or it was not tried: back as it was.
  if (subscribed.empty() || (work.release && work.runs.empty())) {
    decision.settlement = settle(work.event.attempts, Outcome::released(), {}, 0.0);
    decision.settlement.progress = work.event.progress;
    // Claimed for a subscription that has just gone: not again at once.
    if (subscribed.empty()) decision.settlement.delay = kRestOfTheUnwanted;
    return;
  }
  std::vector<std::string> open;
  for (const std::string& handler : subscribed) {
    if (!work.handled_before.contains(handler)) open.push_back(handler);
  }
  Decision made = decide({.attempts = work.event.attempts,
                          .progress = work.event.progress,
                          .open = open,
                          .runs = work.runs,
                          .served = input.registry.served,
                          .hosted = input.hosted.names(),
                          .now = work.store_now()});
  decision.settlement = std::move(made.settlement);
  for (std::string& handler : made.handled_by) {
    if (needs_record(work, handler, input, open.size())) decision.handled_by.push_back(std::move(handler));
  }
  if (!decision.handled_by.empty()) decision.idempotency_key = work.event.envelope.idempotency_key();
}

}  // namespace sluice::runtime
