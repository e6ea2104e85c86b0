#include <array>
#include <cstdio>

#include "ops/doctor_findings.hpp"

namespace sluice::ops {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;
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

void judge_file(const DoctorFacts& facts, Findings& findings) {
  if (!facts.diagnosis.file) return;
  judge_content(*facts.diagnosis.file, findings);
  judge_permissions(*facts.diagnosis.file, findings);
  judge_log(*facts.diagnosis.file, findings);
  judge_disk(*facts.diagnosis.file, findings);
}

}  // namespace sluice::ops
