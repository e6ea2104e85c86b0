#include <algorithm>
#include <array>
#include <cstdio>

#include "core/words.hpp"
#include "ops/doctor_findings.hpp"
#include "ops/ladder.hpp"

namespace sluice::ops {
namespace {

using HolderKind = store::XminHolder::Kind;

constexpr Duration kPinWarning = std::chrono::minutes{10};
constexpr Duration kPinCritical = std::chrono::hours{1};
// What replication holds back has no time, only a distance.
constexpr std::int64_t kFarWarning = 1'000'000;
constexpr std::int64_t kFarCritical = 10'000'000;
constexpr std::int64_t kDeadWarning = 100'000;
constexpr std::int64_t kDeadCritical = 5'000'000;

Severity severity_of(const store::XminHolder& holder) {
  if (holder.session.transaction_age) return graded(*holder.session.transaction_age, kPinWarning, kPinCritical);
  return graded(holder.transactions, kFarWarning, kFarCritical);
}

std::string sql_text(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string{"''"} : std::string{c};
  return quoted + '\'';
}

std::string culprit(const store::XminHolder& holder) {
  switch (holder.kind) {
    case HolderKind::prepared:
      return "prepared transaction " + sql_text(holder.name) + " of user " + holder.session.user;
    case HolderKind::slot:
      return "replication slot " + holder.name + " (" + holder.session.state + ")";
    case HolderKind::session:
      return in_words(holder.session);
  }
  return {};
}

std::string cure(const store::XminHolder& holder) {
  switch (holder.kind) {
    case HolderKind::prepared:
      return "decide it: rollback prepared " + sql_text(holder.name) + ", or commit prepared";
    case HolderKind::slot:
      return "bring its consumer back, or if it is gone: select pg_drop_replication_slot(" + sql_text(holder.name) +
             ")";
    case HolderKind::session:
      return holder.session.transaction_age
                 ? "end its transaction, or as a superuser: " + terminate_sql(holder.session)
                 : "end the long query on the standby behind it, or set hot_standby_feedback = off there";
  }
  return {};
}

Finding pinned(const store::XminHolder& holder, Severity severity) {
  const auto& age = holder.session.transaction_age;
  Finding finding{FindingId::xmin_pinned, severity,
                  culprit(holder) + " has pinned xmin for " + (age ? roughly(*age) + ", " : "") +
                      counted(holder.transactions, "transaction"),
                  "No row version that died since then can be removed, in any table; claims get slower meanwhile.",
                  cure(holder)};
  if (!holder.session.query.empty()) finding.detail += " Its latest statement: " + holder.session.query;
  return finding;
}

bool judge_xmin(const store::ServerFacts& server, Findings& findings) {
  if (!server.xmin) return false;
  bool found = false;
  for (const store::XminHolder& holder : *server.xmin) {
    const Severity severity = severity_of(holder);
    if (severity == Severity::ok) continue;
    found = true;
    findings.add(pinned(holder, severity));
  }
  if (!found) {
    findings.ok(FindingId::xmin_pinned, "nothing that is visible from here pins xmin for " + roughly(kPinWarning));
  }
  return found;
}

void judge_dead_rows(const store::TableFacts& outbox, bool pinned, std::optional<Timestamp> now, Findings& findings) {
  // A small share is what vacuum leaves behind between two runs.
  const bool many = outbox.dead_rows > outbox.live_rows / 5;
  const Severity severity = many ? graded(outbox.dead_rows, kDeadWarning, kDeadCritical) : Severity::ok;
  const std::string dead =
      counted(outbox.dead_rows, "dead row") + " beside " + counted(outbox.live_rows, "live one") + " in core.outbox";
  if (severity == Severity::ok) return findings.ok(FindingId::dead_tuples, dead);
  const std::string vacuumed = outbox.vacuumed_at && now
                                   ? "last vacuumed " + roughly(*now - *outbox.vacuumed_at) + " ago"
                                   : "never vacuumed since the statistics began";
  findings.add({FindingId::dead_tuples, severity, dead + ", " + vacuumed,
                "The table and its indexes take " + bytes_text(outbox.bytes) + ".",
                pinned ? "end what pins xmin first (see xmin-pinned), then: vacuum (analyze) core.outbox"
                       : "vacuum (analyze) core.outbox; then see why autovacuum does not keep up: "
                         "select * from pg_stat_progress_vacuum"});
}

constexpr std::int64_t kMiB = std::int64_t{1024} * 1024;
constexpr std::int64_t kLargeWal = 64 * kMiB;
constexpr std::int64_t kLowDisk = 512 * kMiB;
constexpr std::int64_t kNoDisk = 64 * kMiB;
constexpr unsigned kOthersMayWrite = 0002;

std::string octal(unsigned permissions) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04o", permissions);
  return text.data();
}

void judge_content(const store::FileFacts& file, Findings& findings) {
  if (file.damage.empty()) {
    return findings.ok(FindingId::sqlite_corrupt, file.path + " is sound: " + bytes_text(file.bytes) + ", " +
                                                      bytes_text(file.free_bytes) + " of it free, journal mode " +
                                                      file.journal_mode);
  }
  findings.add(
      {FindingId::sqlite_corrupt, Severity::critical, file.path + " is damaged: " + file.damage.front(),
       enumerated(file.damage),
       "stop every process that uses it, copy the file with its -wal and -shm files, restore a backup, or save "
       "what can be read: sqlite3 " +
           file.path + " .recover | sqlite3 recovered.db"});
}

void judge_permissions(const store::FileFacts& file, Findings& findings) {
  findings.ok(FindingId::sqlite_not_writable, file.path + " can be written");
  const std::string rights = "permissions " + octal(file.permissions) + ", owner " + file.owner;
  if ((file.permissions & kOthersMayWrite) == 0) return findings.ok(FindingId::sqlite_permissions, rights);
  findings.add({FindingId::sqlite_permissions, Severity::warning, "every user of this machine may change " + file.path,
                rights, "chmod o-w " + file.path});
}

void judge_log(const store::FileFacts& file, Findings& findings) {
  const std::string size = "the write-ahead log has " + bytes_text(file.wal_bytes);
  if (file.wal_bytes < kLargeWal) return findings.ok(FindingId::sqlite_wal, size);
  findings.add({FindingId::sqlite_wal, Severity::warning, size + ": it is not moved into " + file.path,
                "Whoever writes moves it. A reader that never ends keeps it from doing so, and so does a process that "
                "hangs while it writes.",
                "end programs that keep a read transaction open on the file (lsof " + file.path + "), then: sqlite3 " +
                    file.path + " 'pragma wal_checkpoint(truncate)'"});
}

void judge_disk(const store::FileFacts& file, Findings& findings) {
  if (!file.disk_free_bytes) return;
  const std::int64_t left = *file.disk_free_bytes;
  const std::string disk = bytes_text(left) + " free on the disk of " + file.path;
  if (left >= kLowDisk) return findings.ok(FindingId::sqlite_disk, disk);
  findings.add({FindingId::sqlite_disk, left < kNoDisk ? Severity::critical : Severity::warning, "only " + disk,
                "When the disk is full nothing can be published or settled; what is stored stays.",
                "free disk space, or move the store to another disk while nothing uses it"});
}

}  // namespace

void judge_growth(const DoctorFacts& facts, Findings& findings) {
  if (!facts.ladder) return;
  const LadderVerdict& verdict = *facts.ladder;
  if (!verdict.due) return findings.ok(FindingId::ladder, verdict.why);
  findings.add({FindingId::ladder, Severity::warning,
                "the step `" + std::string{name(*verdict.due)} + "` of the ladder is due: " + verdict.why,
                std::string{cost(*verdict.due)},
                "see `sluice ladder status`, then: " + std::string{command(*verdict.due)}});
}

void judge_vacuum(const DoctorFacts& facts, Findings& findings) {
  if (!facts.diagnosis.server) return;
  const bool pinned = judge_xmin(*facts.diagnosis.server, findings);
  if (const auto& outbox = facts.diagnosis.server->outbox) judge_dead_rows(*outbox, pinned, facts.now, findings);
}

void judge_partitions(const DoctorFacts& facts, Findings& findings) {
  if (!facts.diagnosis.partitions || !facts.now) return;
  const store::PartitionLayout& layout = *facts.diagnosis.partitions;
  if (layout.boundary) {
    findings.add({FindingId::partition_unfinished,
                  *layout.boundary - *facts.now < std::chrono::days{3} ? Severity::critical : Severity::warning,
                  "`sluice ladder partition` was begun and not finished: events that occur in " +
                      month_text(*layout.boundary) + " or later are refused",
                  "Two days before that month retention undoes the steps that were taken.",
                  "sluice ladder partition, to go on, or sluice ladder partition --abandon"});
  }
  if (!layout.partitioned) return;
  const Timestamp next = boundary_after(*facts.now - std::chrono::days{7});
  const bool made = std::any_of(layout.partitions.begin(), layout.partitions.end(), [&](const store::Partition& one) {
    return !one.is_default && one.until && *one.until > next && (!one.since || *one.since <= next);
  });
  if (made) {
    findings.ok(FindingId::partition_missing,
                counted(static_cast<std::int64_t>(layout.partitions.size()), "partition") + ", that of " +
                    month_text(next) + " among them");
  } else {
    findings.add({FindingId::partition_missing, Severity::warning,
                  "there is no partition for " + month_text(next) + ": its events will go to the default partition",
                  "Worker processes make them three months ahead with every retention sweep; either none runs, or "
                  "somebody holds core.outbox.",
                  "sluice retention sweep"});
  }
  for (const store::Partition& one : layout.partitions) {
    if (!one.is_default || one.rows == 0) continue;
    findings.add({FindingId::partition_default, Severity::warning,
                  "the default partition holds about " + counted(one.rows, "event") +
                      ": of months that have no partition of their own",
                  "The next retention sweep makes those months and moves the events there, except for years before "
                  "1970 and more than ten years ahead.",
                  "select occurred_at, id, source from core." + one.name + " order by occurred_at limit 20"});
  }
}

void judge_file(const DoctorFacts& facts, Findings& findings) {
  if (!facts.diagnosis.file) return;
  judge_content(*facts.diagnosis.file, findings);
  judge_permissions(*facts.diagnosis.file, findings);
  judge_log(*facts.diagnosis.file, findings);
  judge_disk(*facts.diagnosis.file, findings);
}

}  // namespace sluice::ops
