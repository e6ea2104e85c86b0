#include "core/decide.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/subscription.hpp"

namespace sluice {
namespace {

const HandlerRun* run_of(const EventAttempt& attempt, const std::string& handler) {
  for (const HandlerRun& run : attempt.runs) {
    if (run.handler_name == handler) return &run;
  }
  return nullptr;
}

HandlerProgress before(const EventAttempt& attempt, const std::string& handler) {
  for (const HandlerProgress& one : attempt.progress) {
    if (one.handler_name == handler) return one;
  }
  HandlerProgress fresh;
  fresh.handler_name = handler;
  fresh.due = attempt.now;
  // Until now it was the only handler, so the row's count is its own.
  if (attempt.progress.empty() && run_of(attempt, handler) != nullptr) fresh.attempts = attempt.attempts;
  return fresh;
}

HandlerProgress after(HandlerProgress progress, const HandlerRun& run, Timestamp now) {
  const Settlement own = settle(progress.attempts, run.outcome, run.policy, run.uniform01);
  progress.due = own.not_before.value_or(now + own.delay);
  progress.exhausted = own.next == Status::failed;
  if (!own.counts_attempt) return progress;
  ++progress.attempts;
  progress.last_error = own.last_error;
  progress.error_class = own.error_class;
  progress.fingerprint = own.fingerprint;
  return progress;
}

void record(Settlement& settlement, const HandlerProgress& failure) {
  settlement.records_error = true;
  settlement.last_error = failure.last_error;
  settlement.error_class = failure.error_class;
  settlement.fingerprint = failure.fingerprint;
}

// The scope that all of them share, if none is hosted here: only workers of that scope need to look.
std::string lane_of(const std::vector<HandlerProgress>& left, const EventAttempt& attempt) {
  std::optional<std::string_view> lane;
  for (const HandlerProgress& one : left) {
    if (one.exhausted) continue;
    const std::string_view scope = scope_of(one.handler_name);
    if (attempt.hosted.contains(one.handler_name) || (lane && *lane != scope)) return {};
    lane = scope;
  }
  return std::string{lane.value_or("")};
}

Settlement give_up(const std::vector<HandlerProgress>& left) {
  Settlement settlement;
  settlement.next = Status::failed;
  settlement.cause = Cause::fail;
  const auto exhausted = std::find_if(left.begin(), left.end(), [](const auto& one) { return one.exhausted; });
  record(settlement, *exhausted);
  return settlement;
}

Settlement wait_for(const std::vector<HandlerProgress>& left, const EventAttempt& attempt) {
  Settlement settlement;
  settlement.next = Status::pending;
  settlement.cause = Cause::release;
  for (const HandlerProgress& one : left) {
    if (one.exhausted) continue;
    if (!settlement.not_before || one.due < *settlement.not_before) settlement.not_before = one.due;
  }
  for (const HandlerProgress& one : left) {
    const HandlerRun* run = run_of(attempt, one.handler_name);
    if (run == nullptr || run->outcome.kind != Outcome::Kind::failed) continue;
    settlement.cause = Cause::retry;
    record(settlement, one);
    break;
  }
  settlement.lane = lane_of(left, attempt);
  return settlement;
}

Decision decide_several(const EventAttempt& attempt, Decision decision, const std::vector<std::string>& open) {
  std::vector<HandlerProgress> left;
  bool somebody_untried = false;
  bool somebody_exhausted = false;
  int most_attempts = 0;
  for (const std::string& handler : open) {
    HandlerProgress progress = before(attempt, handler);
    const HandlerRun* run = run_of(attempt, handler);
    if (run != nullptr) progress = after(std::move(progress), *run, attempt.now);
    somebody_untried =
        somebody_untried || (run == nullptr && progress.attempts == 0 && attempt.served.contains(handler));
    somebody_exhausted = somebody_exhausted || progress.exhausted;
    most_attempts = std::max(most_attempts, progress.attempts);
    left.push_back(std::move(progress));
  }
  const bool failed = somebody_exhausted && !somebody_untried;
  decision.settlement = failed ? give_up(left) : wait_for(left, attempt);
  decision.settlement.counts_attempt = most_attempts > attempt.attempts;
  decision.settlement.progress = std::move(left);
  return decision;
}

}  // namespace

Decision decide(const EventAttempt& attempt) {
  Decision decision;
  std::vector<std::string> open;
  for (const std::string& handler : attempt.open) {
    const HandlerRun* run = run_of(attempt, handler);
    const bool handled = run != nullptr && run->outcome.kind == Outcome::Kind::handled;
    (handled ? decision.handled_by : open).push_back(handler);
  }
  if (open.empty()) return decision;
  const HandlerRun* only =
      attempt.open.size() == 1 && attempt.progress.empty() ? run_of(attempt, open.front()) : nullptr;
  if (only == nullptr) return decide_several(attempt, std::move(decision), open);
  decision.settlement = settle(attempt.attempts, only->outcome, only->policy, only->uniform01);
  return decision;
}

}  // namespace sluice
