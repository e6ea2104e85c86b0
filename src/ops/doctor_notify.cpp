#include <array>
#include <cstdio>

#include "core/words.hpp"
#include "ops/doctor_findings.hpp"
#include "ops/workers.hpp"

namespace sluice::ops {
namespace {

constexpr double kQueueWarning = 0.25;
constexpr double kQueueCritical = 0.5;
constexpr std::int64_t kManyCommitsWaiting = 5;

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), share > 0 && share < 0.1 ? "%.1f %%" : "%.0f %%", share * 100);
  return text.data();
}

void judge_hearing(const DoctorFacts& facts, Findings& findings) {
  if (!facts.hearing) return;
  const bool pooled = !facts.hearing->obstacle.empty() || (facts.diagnosis.server && facts.diagnosis.server->pooled);
  if (facts.hearing->heard) {
    return findings.ok(FindingId::listener_deaf, pooled ? "LISTEN works from here, through a connection pooler"
                                                        : "LISTEN works from here, without a pooler between");
  }
  findings.add({FindingId::listener_deaf, Severity::warning,
                pooled ? "a connection pooler stands between and loses LISTEN: workers with this --store are deaf"
                       : "a NOTIFY sent from here did not come back: workers with this --store may be deaf",
                "Workers that hear nothing poll instead: nothing is lost, but events wait for the next poll.",
                pooled ? "give workers a --store that leads to PostgreSQL directly, or a pooler in session mode"
                       : "look for a pooler or proxy between, and at the NOTIFY queue"});
}

void judge_workers(const DoctorFacts& facts, Findings& findings) {
  if (!facts.survey) return;
  std::vector<std::string> deaf;
  for (const store::WorkerRecord& worker : facts.survey->workers) {
    if (!is_listening(worker)) {
      deaf.push_back(worker.identity + " (generation " + std::to_string(worker.generation) + ", " + worker.listener +
                     ")");
    }
  }
  const auto alive = static_cast<std::int64_t>(facts.survey->workers.size());
  if (deaf.empty()) {
    return findings.ok(FindingId::worker_not_listening,
                       alive == 0 ? "no worker is alive" : counted(alive, "worker") + " alive, all of them listening");
  }
  findings.add(
      {FindingId::worker_not_listening, Severity::warning,
       std::to_string(deaf.size()) + " of " + counted(alive, "worker") + " alive " +
           (deaf.size() == 1 ? "does" : "do") + " not listen: " + enumerated(deaf),
       "They poll instead: nothing is lost, but events wait for the next poll.",
       "deaf: give them a --store without a pooler between; reconnecting or polling: look at their logs and at "
       "the network between them and the server"});
}

void judge_doorbell(const DoctorFacts& facts, Findings& findings) {
  if (!facts.doorbell || !facts.diagnosis.server || !facts.diagnosis.server->notify) return;
  const std::int64_t waiting = facts.diagnosis.server->notify->commits_waiting;
  const std::string mode{store::name(*facts.doorbell)};
  if (waiting < kManyCommitsWaiting) {
    return findings.ok(FindingId::doorbell_contention,
                       "the doorbell rings " + mode + ", and commits do not queue up behind NOTIFY");
  }
  const bool can_be_quieter = *facts.doorbell == store::DoorbellMode::always;
  findings.add({FindingId::doorbell_contention, Severity::warning,
                counted(waiting, "commit") + " wait for each other because they NOTIFY; the doorbell rings " + mode,
                "A transaction that sends a NOTIFY commits alone in the whole cluster.",
                can_be_quieter ? "sluice db doorbell when-idle --reason 'commits queue up'"
                               : "look for other programs in the cluster that NOTIFY, or publish in batches"});
}

void judge_queue(const DoctorFacts& facts, Findings& findings) {
  if (!facts.diagnosis.server || !facts.diagnosis.server->notify) return;
  const store::NotifyFacts& notify = *facts.diagnosis.server->notify;
  const Severity severity = graded(notify.queue_usage, kQueueWarning, kQueueCritical);
  const std::string full = "the NOTIFY queue is " + percent(notify.queue_usage) + " full";
  if (severity == Severity::ok) return findings.ok(FindingId::notify_queue, full);
  Finding finding{FindingId::notify_queue, severity, full,
                  "When it is full, every transaction that publishes fails. It shrinks only as far as every listening "
                  "session has read, and a session in a transaction reads nothing.",
                  "find the session that listens inside a transaction in pg_stat_activity, and end it"};
  if (!notify.suspects.empty()) {
    const store::ServerSession& suspect = notify.suspects.front();
    finding.title += "; " + in_words(suspect) + " may hold it back";
    if (suspect.transaction_age) finding.title += ", in a transaction for " + roughly(*suspect.transaction_age);
    finding.fix = "end its transaction, or as a superuser: " + terminate_sql(suspect);
    std::vector<std::string> others;
    for (std::size_t at = 1; at < notify.suspects.size(); ++at) others.push_back(in_words(notify.suspects[at]));
    if (!others.empty()) finding.detail += " Also in a transaction: " + enumerated(others) + '.';
  }
  findings.add(std::move(finding));
}

}  // namespace

void judge_notify(const DoctorFacts& facts, Findings& findings) {
  judge_hearing(facts, findings);
  judge_workers(facts, findings);
  judge_doorbell(facts, findings);
  judge_queue(facts, findings);
}

}  // namespace sluice::ops
