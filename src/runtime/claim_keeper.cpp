#include "runtime/claim_keeper.hpp"

#include <algorithm>
#include <utility>

#include "core/try.hpp"

namespace sluice::runtime {
namespace {

constexpr Duration kLongestRest = std::chrono::seconds{1};

}  // namespace

bool ClaimKeeper::Hold::Run::runs(const Uuid& event) const {
  return std::find(events.begin(), events.end(), event) != events.end();
}

ClaimKeeper::Hold::Hold(ClaimKeeper& keeper, std::vector<store::ClaimRef> claims, TimePoint claimed)
    : keeper_(keeper), claims_(std::move(claims)), renewed_(claimed) {
  const std::lock_guard lock{keeper_.mutex_};
  keeper_.holds_.insert(this);
}

ClaimKeeper::Hold::~Hold() {
  const std::lock_guard lock{keeper_.mutex_};
  keeper_.holds_.erase(this);
}

std::stop_token ClaimKeeper::Hold::begin(std::vector<Uuid> events, Duration timeout) {
  const std::lock_guard lock{mutex_};
  run_.emplace(Run{std::move(events), {}, {}, false});
  if (timeout > Duration::zero()) run_->deadline = keeper_.now() + timeout;
  if (keeper_.stopping_) run_->stop.request_stop();
  return run_->stop.get_token();
}

bool ClaimKeeper::Hold::end() {
  const std::lock_guard lock{mutex_};
  const bool timed_out = run_ && (run_->timed_out || (run_->deadline && keeper_.now() >= *run_->deadline));
  run_.reset();
  return timed_out;
}

void ClaimKeeper::Hold::forget(const Uuid& event) {
  const std::lock_guard lock{mutex_};
  const auto found = std::find_if(claims_.begin() + static_cast<std::ptrdiff_t>(forgotten_), claims_.end(),
                                  [&](const store::ClaimRef& claim) { return claim.event_id == event; });
  if (found == claims_.end()) return;
  std::rotate(claims_.begin() + static_cast<std::ptrdiff_t>(forgotten_), found, found + 1);
  ++forgotten_;
}

bool ClaimKeeper::Hold::lost(const Uuid& event) const {
  const std::lock_guard lock{mutex_};
  return lost_.contains(event);
}

ClaimKeeper::ClaimKeeper(store::Claiming& store, telemetry::Logger logger, ClaimKeeperOptions options)
    : store_(store), logger_(std::move(logger)), options_(std::move(options)) {
  if (!options_.clock) options_.clock = [] { return std::chrono::steady_clock::now(); };
}

std::unique_ptr<ClaimKeeper::Hold> ClaimKeeper::hold(std::vector<store::ClaimRef> claims, TimePoint claimed) {
  return std::make_unique<Hold>(*this, std::move(claims), claimed);
}

ClaimKeeper::Due ClaimKeeper::expire_and_collect(TimePoint now) {
  Due due;
  for (Hold* hold : holds_) {
    const std::lock_guard lock{hold->mutex_};
    if (hold->run_ && hold->run_->deadline && now >= *hold->run_->deadline && !hold->run_->timed_out) {
      hold->run_->timed_out = true;
      hold->run_->stop.request_stop();
      logger_.warn("handler timed out and was asked to stop",
                   {{"events", static_cast<std::int64_t>(hold->run_->events.size())}});
    }
    if (now - hold->renewed_ < options_.ttl / 3) continue;
    due.holds.push_back(hold);
    for (const store::ClaimRef& claim : hold->held()) {
      // A handler that outstays its time does not keep others from the event for ever.
      const bool overrun = hold->run_ && hold->run_->timed_out && hold->run_->runs(claim.event_id);
      if (!overrun && !hold->lost_.contains(claim.event_id)) due.claims.push_back(claim);
    }
  }
  return due;
}

void ClaimKeeper::mark_lost(const std::vector<Uuid>& lost, const Due& renewed, TimePoint now) {
  for (Hold* hold : renewed.holds) {
    const std::lock_guard lock{hold->mutex_};
    hold->renewed_ = now;
    for (const Uuid& event : lost) {
      const auto held = hold->held();
      const bool mine =
          std::any_of(held.begin(), held.end(), [&](const store::ClaimRef& claim) { return claim.event_id == event; });
      if (!mine || !hold->lost_.insert(event).second) continue;
      logger_.warn("claim lost", {{"event_id", event.to_string()}});
      if (hold->run_ && hold->run_->runs(event)) hold->run_->stop.request_stop();
    }
  }
}

Result<Duration> ClaimKeeper::step() {
  const TimePoint now = options_.clock();
  // Holding the mutex over the call keeps the holds alive; a batch waits to begin or end meanwhile.
  const std::lock_guard lock{mutex_};
  const Due due = expire_and_collect(now);
  if (!due.claims.empty()) {
    SLUICE_TRY(const auto lost, store_.heartbeat(due.claims, options_.ttl));
    mark_lost(lost, due, now);
  }
  return std::min<Duration>(kLongestRest, options_.ttl / 10);
}

void ClaimKeeper::stop_runs() {
  stopping_ = true;  // first: a run that begins behind the loop sees it
  const std::lock_guard lock{mutex_};
  for (Hold* hold : holds_) {
    const std::lock_guard own{hold->mutex_};
    if (hold->run_) hold->run_->stop.request_stop();
  }
}

}  // namespace sluice::runtime
