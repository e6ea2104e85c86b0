#include "core/operation.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {
namespace {

constexpr std::array<std::pair<std::string_view, OperationKind>, 3> kOperationKinds{{
    {"replay", OperationKind::replay},
    {"discard", OperationKind::discard},
    {"restore", OperationKind::restore},
}};

constexpr std::array<std::pair<std::string_view, OperationState>, 6> kStates{{
    {"planned", OperationState::planned},
    {"running", OperationState::running},
    {"paused", OperationState::paused},
    {"stopped", OperationState::stopped},
    {"cancelled", OperationState::cancelled},
    {"finished", OperationState::finished},
}};

constexpr Duration kLookAgain = std::chrono::milliseconds{200};
constexpr Duration kSecond = std::chrono::seconds{1};
constexpr Duration kLookAtEnded = std::chrono::seconds{5};

template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  return std::find_if(table.begin(), table.end(), [value](const auto& row) { return row.second == value; })->first;
}

template <class Table>
auto value_in(const Table& table, std::string_view text) -> std::optional<decltype(table.front().second)> {
  const auto* found = std::find_if(table.begin(), table.end(), [text](const auto& row) { return row.first == text; });
  if (found == table.end()) return std::nullopt;
  return found->second;
}

OperationStep wait_for(Duration duration) {
  OperationStep step;
  step.wait_for = duration;
  return step;
}

bool too_many_failed(const OperationProgress& progress) {
  const OperationCounts& counts = progress.counts;
  const std::int64_t settled = counts.delivered + counts.failed_again;
  return settled > 0 && counts.failed_again * 100 > settled * progress.settings.stop_percent;
}

std::string share(const OperationCounts& counts) {
  return std::to_string(counts.failed_again) + " of " + std::to_string(counts.delivered + counts.failed_again) +
         " failed again";
}

// What the rate allows now: a second's worth at most, so that a pause is not followed by a burst. A clock
// that was set back must not make it wait for the old time.
OperationStep paced(const OperationProgress& progress, std::int64_t most, Timestamp now) {
  OperationStep step;
  const int rate = progress.settings.rate;
  if (rate == 0) {
    step.limit = static_cast<int>(most);
    step.paced_at = now;
  } else {
    const Timestamp from = std::clamp(progress.paced_at.value_or(now - kSecond), now - kSecond, now);
    const std::int64_t allowed = (now - from).count() * rate / kSecond.count();
    step.limit = static_cast<int>(std::min(most, allowed));
    if (step.limit == 0) return wait_for(std::max(kSecond / rate - (now - from), Duration{1}));
    step.paced_at = from + kSecond * step.limit / rate;
  }
  step.what = OperationStep::What::act;
  return step;
}

}  // namespace

std::string_view name(OperationKind kind) { return name_in(kOperationKinds, kind); }
std::string_view name(OperationState state) { return name_in(kStates, state); }
std::optional<OperationKind> parse_operation_kind(std::string_view text) { return value_in(kOperationKinds, text); }
std::optional<OperationState> parse_operation_state(std::string_view text) { return value_in(kStates, text); }

bool is_over(OperationState state) {
  return state == OperationState::stopped || state == OperationState::cancelled || state == OperationState::finished;
}

std::string_view name(OperationPhase phase) {
  switch (phase) {
    case OperationPhase::canary:
      return "canary";
    case OperationPhase::rest:
      return "rest";
    case OperationPhase::settling:
      break;
  }
  return "settling";
}

std::optional<OperationPhase> phase_of(const OperationProgress& progress) {
  if (progress.state != OperationState::running && progress.state != OperationState::paused) return std::nullopt;
  const OperationCounts& counts = progress.counts;
  if (counts.remaining() == 0) return OperationPhase::settling;
  const std::int64_t acted = counts.taken - counts.skipped;
  const std::int64_t canary = progress.settings.canary;
  const bool waits = acted < canary || (acted == canary && counts.in_flight() > 0);
  return canary > 0 && waits ? OperationPhase::canary : OperationPhase::rest;
}

OperationStep next_step(const OperationProgress& progress, Timestamp now) {
  // What is over has only events in flight left to be counted; they may wait for a worker for days.
  if (is_over(progress.state)) return wait_for(kLookAtEnded);
  if (progress.state != OperationState::running) return wait_for(kSecond);
  const OperationCounts& counts = progress.counts;
  const std::int64_t settled = counts.delivered + counts.failed_again;
  const std::int64_t canary = std::min<std::int64_t>(progress.settings.canary, counts.total);
  const std::int64_t acted = counts.taken - counts.skipped;
  const bool canary_is_out = canary > 0 && acted == canary;
  // Nobody can tell from two outcomes; the canary as a whole can, and so can the end.
  const bool judge =
      settled >= kOperationSample || (counts.in_flight() == 0 && (canary_is_out || counts.remaining() == 0));
  if (judge && counts.remaining() > 0 && too_many_failed(progress)) {
    OperationStep stop;
    stop.what = OperationStep::What::stop;
    stop.why = (canary_is_out ? "canary: " : "") + share(counts);
    return stop;
  }
  if (counts.remaining() == 0) {
    if (counts.in_flight() > 0) return wait_for(kLookAgain);
    OperationStep finish;
    finish.what = OperationStep::What::finish;
    return finish;
  }
  if (canary_is_out && counts.in_flight() > 0) return wait_for(kLookAgain);

  std::int64_t most = kOperationWindow - counts.in_flight();
  if (acted < canary) most = std::min(most, canary - acted);
  if (most <= 0) return wait_for(kLookAgain);
  return paced(progress, most, now);
}

}  // namespace sluice
