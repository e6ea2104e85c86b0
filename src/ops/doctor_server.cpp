#include <algorithm>
#include <array>
#include <cstdio>

#include "core/words.hpp"
#include "ops/doctor_findings.hpp"
#include "ops/subscriptions.hpp"

namespace sluice::ops {
namespace {

constexpr int kOldestServer = 150000;
constexpr Duration kSkewWarning = std::chrono::seconds{1};
constexpr Duration kSkewCritical = std::chrono::seconds{30};
constexpr Duration kLockPatience = std::chrono::seconds{10};

void judge_version(const store::ServerFacts& server, Findings& findings) {
  if (server.version < kOldestServer) {
    findings.add({FindingId::server_version, Severity::critical,
                  "PostgreSQL " + server.version_text + " is older than 15, the oldest that is supported", "",
                  "upgrade the server to PostgreSQL 15 or newer"});
  } else {
    findings.ok(FindingId::server_version, "PostgreSQL " + server.version_text);
  }
  if (!server.standby) return;
  findings.add({FindingId::server_standby, Severity::critical, "the server is a standby: nothing can be written", "",
                "connect to the primary, or give all hosts and target_session_attrs=read-write in --store"});
}

/// The command at the end of a sentence of validate(): "…: run `this`".
std::string command_of(const std::string& sentence) {
  constexpr std::string_view kRun = ": run `";
  const auto at = sentence.find(kRun);
  if (at == std::string::npos) return "sluice db sql prints how it is made";
  return sentence.substr(at + kRun.size(), sentence.rfind('`') - at - kRun.size());
}

/// The scan takes the numbers of events for their order of insertion.
void judge_sequence(const std::vector<std::string>& damage, Findings& findings) {
  for (const std::string& one : damage) {
    findings.add({FindingId::outbox_sequence, Severity::critical, one.substr(0, one.find(": run `")),
                  "Events whose numbers are not in the order of insertion can stay pending.", command_of(one)});
  }
}

void judge_schema(const DoctorFacts& facts, Findings& findings) {
  if (!facts.schema) return;
  const auto [applied, known] = *facts.schema;
  const auto critical = [&](std::string title, std::string fix) {
    findings.add({FindingId::schema_version, Severity::critical, std::move(title), "", std::move(fix)});
  };
  const std::string versions = std::to_string(applied) + ", this build knows " + std::to_string(known);
  if (applied == 0) return critical("the schema is missing", "sluice db migrate");
  if (applied < known) return critical("the schema is too old: version " + versions, "sluice db migrate");
  if (applied > known) {
    return critical("the schema is too new: version " + versions, std::string{store::kNewerSchemaHint});
  }
  findings.ok(FindingId::schema_version, "the schema is at version " + std::to_string(applied));
  std::vector<std::string> damage = facts.schema_damage;
  const auto numbers = std::stable_partition(damage.begin(), damage.end(), [](const std::string& one) {
    return one.find("core.outbox_seq") == std::string::npos;
  });
  judge_sequence({numbers, damage.end()}, findings);
  damage.erase(numbers, damage.end());
  if (damage.empty()) {
    findings.ok(FindingId::schema_damaged, "tables, indexes and triggers are as this build expects them");
    return;
  }
  const bool missing = std::any_of(damage.begin(), damage.end(),
                                   [](const std::string& one) { return one.find("is missing") != std::string::npos; });
  findings.add({FindingId::schema_damaged, missing ? Severity::critical : Severity::warning,
                "the schema was changed by hand: " + damage.front(), enumerated(damage),
                "undo the change; `sluice db sql` prints how it is made, `sluice db validate` lists what differs"});
}

void judge_grants(const store::ServerFacts& server, Findings& findings) {
  if (!server.grants) return;
  const store::GrantFacts& grants = *server.grants;
  if (!grants.missing.empty()) {
    findings.add({FindingId::grants_missing, Severity::warning, "a role lacks what it needs: " + grants.missing.front(),
                  enumerated(grants.missing), "as the owner of the schema: sluice db grant"});
  }
  if (!grants.owner && grants.memberships.empty()) {
    findings.add(
        {FindingId::grants_missing, Severity::warning,
         "user " + server.user + " neither owns the schema nor has a sluice role", "",
         "as the owner of the schema: sluice db grant reader " + server.user + " (or publisher, worker, operator)"});
  } else if (grants.missing.empty()) {
    findings.ok(FindingId::grants_missing,
                "user " + server.user + (grants.owner ? " owns the schema" : " has " + enumerated(grants.memberships)) +
                    (grants.roles.empty() ? "; the sluice roles are not in use" : "; the roles have what they need"));
  }
}

void judge_locks(const store::ServerFacts& server, Findings& findings) {
  if (!server.locks) return;
  bool found = false;
  for (const store::ServerSession& holder : server.locks->holders) {
    if (holder.transaction_age.value_or(kLockPatience) < kLockPatience) continue;
    found = true;
    findings.add({FindingId::outbox_locked, server.locks->waiting > 0 ? Severity::critical : Severity::warning,
                  in_words(holder) + " keeps others from writing to core.outbox" +
                      (holder.transaction_age ? " for " + roughly(*holder.transaction_age) : ""),
                  counted(server.locks->waiting, "session") + " waiting; its latest statement: " + holder.query,
                  "end that transaction, or as a superuser: " + terminate_sql(holder)});
  }
  if (!found) findings.ok(FindingId::outbox_locked, "no lock keeps anybody from writing to core.outbox");
}

void judge_sight(const DoctorFacts& facts, Findings& findings) {
  for (const store::Unseen& unseen : facts.unseen) {
    const bool forbidden = unseen.error.code == ErrorCode::forbidden;
    findings.add(
        {FindingId::sight_limited, forbidden ? Severity::info : Severity::warning,
         unseen.what + (unseen.what.ends_with('s') ? " were" : " was") + " not looked at: " + unseen.error.message, "",
         !unseen.error.hint.empty() ? unseen.error.hint
         : forbidden                ? "ask the owner of the schema to run `sluice db grant`"
                                    : "run it again when the cause is gone"});
  }
  if (!facts.diagnosis.server || facts.diagnosis.server->sees_all_sessions) return;
  const std::string& user = facts.diagnosis.server->user;
  findings.add({FindingId::sight_limited, Severity::info,
                "user " + user + " does not see what other users' sessions do",
                "who pins xmin, holds a lock or blocks the NOTIFY queue may be missing from this report",
                "as a superuser: grant pg_read_all_stats to " + user});
}

void judge_clock(const DoctorFacts& facts, Findings& findings) {
  if (!facts.clock_ahead) return;
  const Duration ahead = *facts.clock_ahead;
  const Duration size = ahead < Duration::zero() ? -ahead : ahead;
  const Severity severity = size > kSkewCritical  ? Severity::critical
                            : size > kSkewWarning ? Severity::warning
                                                  : Severity::ok;
  if (severity == Severity::ok) {
    return findings.ok(FindingId::clock_skew, "the clocks of the store and of this machine agree");
  }
  findings.add({FindingId::clock_skew, severity,
                "the store's clock is " + roughly(size) + (ahead > Duration::zero() ? " ahead of" : " behind") +
                    " this machine's",
                "Events are due by the store's clock; times that this machine gives are off by as much.",
                "make both follow a time server: timedatectl status"});
}

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
                       "the doorbell notifies " + mode + ", and commits do not queue up behind NOTIFY");
  }
  const bool can_be_quieter = *facts.doorbell == store::DoorbellMode::always;
  findings.add({FindingId::doorbell_contention, Severity::warning,
                counted(waiting, "commit") + " wait for each other because they NOTIFY; the doorbell notifies " + mode,
                "A transaction that sends a NOTIFY commits alone in the whole server.",
                can_be_quieter ? "sluice db doorbell when-idle --reason 'commits queue up'"
                               : "look for other programs on the server that NOTIFY, or publish in batches"});
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

void judge_server(const DoctorFacts& facts, Findings& findings) {
  if (facts.diagnosis.server) {
    judge_version(*facts.diagnosis.server, findings);
    judge_grants(*facts.diagnosis.server, findings);
    judge_locks(*facts.diagnosis.server, findings);
  }
  judge_schema(facts, findings);
  judge_sight(facts, findings);
  judge_clock(facts, findings);
}

void judge_notify(const DoctorFacts& facts, Findings& findings) {
  judge_hearing(facts, findings);
  judge_workers(facts, findings);
  judge_doorbell(facts, findings);
  judge_queue(facts, findings);
}

}  // namespace sluice::ops
