#include <algorithm>

#include "core/words.hpp"
#include "ops/doctor_findings.hpp"

namespace sluice::ops {
namespace {

using std::chrono::days;
using std::chrono::minutes;

constexpr Duration kReaperWarning = minutes{1};
constexpr Duration kReaperCritical = minutes{10};
constexpr Duration kSweepWarning = days{1};
// A publisher that is a moment ahead of its subscriber is no news.
constexpr Duration kUnwantedPatience = minutes{1};

void judge_reaper(const DoctorFacts& facts, Findings& findings) {
  if (!facts.diagnosis.expired || !facts.now) return;
  const store::ExpiredFacts& expired = *facts.diagnosis.expired;
  const Duration late = expired.oldest ? *facts.now - *expired.oldest : Duration::zero();
  const Severity severity = graded(late, kReaperWarning, kReaperCritical);
  if (severity == Severity::ok) {
    return findings.ok(FindingId::claims_expired,
                       "no claim has been expired for longer than " + roughly(kReaperWarning));
  }
  const std::string count = (expired.count >= store::kExpiredLook ? "at least " : "") + counted(expired.count, "event");
  findings.add(
      {FindingId::claims_expired, severity,
       count + " in flight whose claim ran out, the oldest " + roughly(late) + " ago: no reaper takes them back",
       "Whoever claimed them died or hangs. Every worker process reaps, whatever its generation.",
       "start a worker: sluice serve, or your program with an EventListener"});
}

void judge_retention(const DoctorFacts& facts, Findings& findings) {
  if (!facts.diagnosis.retention || !facts.now) return;
  const store::RetentionFacts& kept = *facts.diagnosis.retention;
  const RetentionPolicy& policy = facts.retention.outbox;
  const auto lag = [&](const std::optional<Timestamp>& oldest, Duration keep) {
    return oldest ? *facts.now - *oldest - keep : Duration::zero();
  };
  const Duration finished = lag(kept.oldest_finished, policy.active);
  const Duration tombstoned = lag(kept.oldest_tombstone, policy.grace);
  if (std::max(finished, tombstoned) < kSweepWarning) {
    return findings.ok(FindingId::retention_lag, "retention keeps up: events are kept for " + to_text(policy.active) +
                                                     ", tombstones for " + to_text(policy.grace));
  }
  const bool events = finished >= tombstoned;
  findings.add({FindingId::retention_lag, Severity::warning,
                std::string{events ? "finished events" : "tombstones"} + " are kept " +
                    roughly(std::max(finished, tombstoned)) + " longer than the " +
                    to_text(events ? policy.active : policy.grace) + " of the policy",
                "Worker processes sweep every ten minutes; either none runs, or it does not get done.",
                "sluice retention sweep --dry-run, then sluice retention sweep"});
}

void judge_generations(const DoctorFacts& facts, Findings& findings) {
  if (!facts.survey) return;
  bool found = false;
  for (const GenerationStatus& one : facts.survey->generations) {
    if (!one.abandoned()) continue;
    found = true;
    const bool leaving = one.state == GenerationState::draining || one.state == GenerationState::retired;
    const std::string number = std::to_string(one.generation);
    findings.add(
        {FindingId::generation_abandoned, leaving ? Severity::critical : Severity::warning,
         "generation " + number + " (" + std::string{one.state ? name(*one.state) : "not allocated"} + ") has " +
             (one.pending_estimated ? "about " : "") + counted(one.left(), "event") + " left and no live worker",
         count_text(one.pending, one.pending_estimated) + " pending, " + std::to_string(one.in_flight) + " in flight" +
             (one.oldest_pending ? "; the oldest is of " + to_iso8601(*one.oldest_pending) : ""),
         "start a worker with --generation " + number + ", or move them: sluice generation reroute " + number +
             " --to M --dry-run"});
  }
  if (!found) findings.ok(FindingId::generation_abandoned, "every generation that has events left has a live worker");
}

void judge_subscriptions(const DoctorFacts& facts, Findings& findings) {
  if (!facts.unsubscribed || !facts.now) return;
  std::vector<std::string> kinds;
  bool old = false;
  for (const store::UnsubscribedCount& one : *facts.unsubscribed) {
    kinds.push_back(std::to_string(one.count) + " × " + one.event_type + (one.target ? " → " + *one.target : "") +
                    " in generation " + std::to_string(one.generation));
    old = old || *facts.now - one.oldest >= kUnwantedPatience;
  }
  if (kinds.empty()) return findings.ok(FindingId::events_unsubscribed, "every pending event has a subscriber");
  findings.add(
      {FindingId::events_unsubscribed, old ? Severity::warning : Severity::info,
       "nobody subscribes to " + enumerated(kinds), "They stay pending until somebody does.",
       "start the workers that handle them (sluice subscription list shows who is known), or correct the type, "
       "target or generation of the publisher"});
}

void judge_dead_letters(const DoctorFacts& facts, Findings& findings) {
  if (!facts.dead_letters || *facts.dead_letters == 0) return;
  findings.add({FindingId::dead_letters, Severity::info,
                (*facts.dead_letters >= kDeadLook ? "at least " : "") + counted(*facts.dead_letters, "dead letter") +
                    (*facts.dead_letters == 1 ? " waits" : " wait") + " for somebody",
                "", "sluice dlq groups"});
}

}  // namespace

void judge_delivery(const DoctorFacts& facts, Findings& findings) {
  judge_reaper(facts, findings);
  judge_retention(facts, findings);
  judge_generations(facts, findings);
  judge_subscriptions(facts, findings);
  judge_dead_letters(facts, findings);
}

}  // namespace sluice::ops
