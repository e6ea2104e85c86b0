#include <algorithm>

#include "core/words.hpp"
#include "ops/doctor_findings.hpp"
#include "ops/sinks.hpp"

namespace sluice::ops {
namespace {

using std::chrono::days;
using std::chrono::minutes;

constexpr Duration kReaperWarning = minutes{1};
constexpr Duration kReaperCritical = minutes{10};
constexpr Duration kSweepWarning = days{1};
// A publisher that is a moment ahead of its subscriber is no news.
constexpr Duration kUnwantedPatience = minutes{1};
// A deployment or a reboot takes minutes.
constexpr Duration kUnservedPatience = std::chrono::hours{1};

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

std::string cause_in_words(const store::StrandedFacts::OfCause& one) {
  switch (one.cause) {
    case store::StrandedCause::passed_over:
      return std::to_string(one.count) + " passed over by every claim";
    case store::StrandedCause::no_claim:
      return std::to_string(one.count) + " in flight without a claim";
    case store::StrandedCause::blocker_gone:
      return std::to_string(one.count) + " blocked by nothing of their ordering key";
  }
  return "";
}

void judge_stranded(const DoctorFacts& facts, Findings& findings) {
  if (!facts.diagnosis.stranded) return;
  const auto& causes = facts.diagnosis.stranded->causes;
  if (causes.empty()) {
    return findings.ok(FindingId::stranded_events,
                       "no event was stranded within the last " + roughly(store::kStrandedLook));
  }
  std::int64_t all = 0;
  std::vector<std::string> words;
  const auto latest = std::max_element(causes.begin(), causes.end(), [](const auto& left, const auto& right) {
    return left.latest_at < right.latest_at;
  });
  for (const auto& one : causes) {
    all += one.count;
    words.push_back(cause_in_words(one));
  }
  findings.add({FindingId::stranded_events, Severity::warning,
                counted(all, "event") + " would never have been delivered; the patrol found " +
                    (all == 1 ? "it" : "them") + " within the last " + roughly(store::kStrandedLook),
                enumerated(words) + "; the latest is " + latest->latest_id.to_string() + ", at " +
                    to_iso8601(latest->latest_at) +
                    ". They are on their way again. Unless somebody changed the tables by hand or restored them, this "
                    "is a bug of Sluice.",
                "sluice event show " + latest->latest_id.to_string() +
                    " -o json, and report it with this finding and the log of the workers"});
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
    if (facts.missing_generations.contains(one.generation)) {
      findings.add(
          {FindingId::generation_abandoned, Severity::critical,
           "generation " + number + " does not exist and has " + counted(one.left(), "event"),
           "It was never allocated and nobody subscribes in it: a plain INSERT named it. Every other way to publish "
           "refuses it.",
           "move them: sluice generation reroute " + number +
               " --to M --dry-run, or allocate it: sluice generation "
               "allocate " +
               number});
      continue;
    }
    findings.add(
        {FindingId::generation_abandoned, leaving ? Severity::critical : Severity::warning,
         "generation " + number + " (" + std::string{one.state ? name(*one.state) : "no deployment"} + ") has " +
             (one.pending_estimated ? "about " : "") + counted(one.left(), "event") + " left and no live worker",
         count_text(one.pending, one.pending_estimated) + " pending, " + std::to_string(one.in_flight) + " in flight" +
             (one.oldest_pending ? "; the oldest is of " + to_iso8601(*one.oldest_pending) : ""),
         "start a worker with --generation " + number + ", or move them: sluice generation reroute " + number +
             " --to M --dry-run"});
  }
  if (!found) findings.ok(FindingId::generation_abandoned, "every generation that has events left has a live worker");
}

// A pause is somebody's decision; a receiver that is gone or away is not.
void judge_sinks(const DoctorFacts& facts, Findings& findings) {
  if (!facts.stopped_sinks) return;
  if (facts.stopped_sinks->empty()) return findings.ok(FindingId::sink_stopped, "every sink takes deliveries");
  for (const store::SinkRecord& sink : *facts.stopped_sinks) {
    findings.add({FindingId::sink_stopped, sink.state == SinkSwitch::disabled ? Severity::critical : Severity::warning,
                  "sink " + sink.declared.name + " (" + sink.declared.target + ") is " + how_stopped(sink),
                  "Stopped " + since_stopped(sink) + ". Events for " + enumerated(sink.declared.handlers) +
                      " wait; no attempt is counted.",
                  help_stopped(sink)});
  }
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

bool is_retired(const DoctorFacts& facts, Generation generation) {
  if (!facts.survey) return false;
  const auto& all = facts.survey->generations;
  return std::any_of(all.begin(), all.end(), [&](const GenerationStatus& one) {
    return one.generation == generation && one.state == GenerationState::retired;
  });
}

std::string declarer_in_words(const std::string& declared_by) {
  if (declared_by.empty()) return "nobody knows who declared it";
  if (declared_by == "pull") return "declared by workers that pull";
  return "declared by " + declared_by;
}

// While a subscription stands, every event that it matches waits for its handler.
void judge_declarers(const DoctorFacts& facts, Findings& findings) {
  if (!facts.subscriptions || !facts.now) return;
  std::vector<std::string> all;
  const store::SubscriptionRecord* first = nullptr;
  for (const store::SubscriptionRecord& one : *facts.subscriptions) {
    if (*facts.now - one.served_at < kUnservedPatience || is_retired(facts, one.generation)) continue;
    if (first == nullptr || one.served_at < first->served_at) first = &one;
    all.push_back(one.subscription.handler_name + " in generation " + std::to_string(one.generation) + ", for " +
                  roughly(*facts.now - one.served_at) + " (" + declarer_in_words(one.declared_by) + ")");
  }
  if (first == nullptr) {
    return findings.ok(FindingId::subscription_unserved,
                       "every subscription was served within the last " + roughly(kUnservedPatience));
  }
  findings.add({FindingId::subscription_unserved, Severity::warning,
                "no worker has served " + first->subscription.handler_name + " for " +
                    roughly(*facts.now - first->served_at) + ": every event that it subscribes to waits for it",
                enumerated(all),
                "start it again; or, if it never comes back: sluice subscription remove " +
                    first->subscription.handler_name + " --generation " + std::to_string(first->generation) +
                    " --reason '…'"});
}

std::string why_overdue(store::OverdueEvent::Cause cause) {
  switch (cause) {
    case store::OverdueEvent::Cause::passed_over:
      return "the scan of its workers has passed it";
    case store::OverdueEvent::Cause::marked_blocked:
      return "it is marked as waiting for its ordering key, but nothing of its key stands before it";
    case store::OverdueEvent::Cause::behind:
      break;
  }
  return "its workers have not come to it";
}

std::string help_overdue(const store::OverdueEvent& event) {
  const std::string show = "sluice event show " + event.id.to_string();
  if (event.cause == store::OverdueEvent::Cause::behind) {
    return show + "; look at the workers' load and logs (sluice worker list), and start more of them";
  }
  return show + "; a running worker makes it due again within minutes: if none does, restart one and report this";
}

void judge_overdue(const DoctorFacts& facts, Findings& findings) {
  if (!facts.overdue || !facts.now) return;
  if (facts.overdue->empty()) {
    return findings.ok(FindingId::events_overdue,
                       "no event that a live worker handles is overdue by " + roughly(kDeliveryPatience));
  }
  // Left behind for good weighs more than late.
  const auto lost = std::find_if(facts.overdue->begin(), facts.overdue->end(), [](const store::OverdueEvent& event) {
    return event.cause != store::OverdueEvent::Cause::behind;
  });
  const store::OverdueEvent& first = lost != facts.overdue->end() ? *lost : facts.overdue->front();
  std::vector<std::string> all;
  for (const store::OverdueEvent& event : *facts.overdue) {
    all.push_back(event.id.to_string() + " since " + to_iso8601(event.due) + " (" + why_overdue(event.cause) + ")");
  }
  findings.add({FindingId::events_overdue, lost != facts.overdue->end() ? Severity::critical : Severity::warning,
                "event " + first.id.to_string() + " (" + first.event_type + ") has been due for " +
                    roughly(*facts.now - first.due) + " and is not delivered, though a live worker runs " +
                    first.handler_name + ": " + why_overdue(first.cause),
                (all.size() >= kOverdueLook ? "at least " : "") +
                    counted(static_cast<std::int64_t>(all.size()), "event") + ": " + enumerated(all),
                help_overdue(first)});
}

// What is counted no further than kDeadLook reaches every level that can be set.
Severity severity_of(const DeadTally& tally, const DeadLetterLevels& levels) {
  const auto reached = [&](std::int64_t level) { return level > 0 && tally.unacknowledged >= level; };
  if (reached(levels.critical)) return Severity::critical;
  return reached(levels.warning) ? Severity::warning : Severity::info;
}

void judge_dead_letters(const DoctorFacts& facts, Findings& findings) {
  if (!facts.dead_letters) return;
  const DeadTally& tally = *facts.dead_letters;
  if (tally.unacknowledged == 0) return;
  findings.add({FindingId::dead_letters, severity_of(tally, facts.dead_letter_levels),
                (tally.unacknowledged >= kDeadLook ? "at least " : "") + counted(tally.unacknowledged, "dead letter") +
                    (tally.unacknowledged == 1 ? " needs" : " need") + " review",
                tally.acknowledged() > 0 ? in_words(tally) : "", "sluice dlq groups"});
}

}  // namespace

void judge_delivery(const DoctorFacts& facts, Findings& findings) {
  judge_reaper(facts, findings);
  judge_stranded(facts, findings);
  judge_retention(facts, findings);
  judge_generations(facts, findings);
  judge_sinks(facts, findings);
  judge_subscriptions(facts, findings);
  judge_declarers(facts, findings);
  judge_overdue(facts, findings);
  judge_dead_letters(facts, findings);
}

}  // namespace sluice::ops
