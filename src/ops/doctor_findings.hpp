// From facts to findings, a function per theme. Each says what it looked at, also when all is well.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ops/doctor_facts.hpp"

namespace sluice::ops {

class Findings {
 public:
  void ok(FindingId id, std::string title) { add({id, Severity::ok, std::move(title), "", ""}); }
  void add(Finding finding) { all_.push_back(std::move(finding)); }
  [[nodiscard]] std::vector<Finding> take() && { return std::move(all_); }

 private:
  std::vector<Finding> all_;
};

/// Version, schema, grants, what we may not see, clock, locks.
void judge_server(const DoctorFacts& facts, Findings& findings);
/// Listeners, the doorbell and the NOTIFY queue.
void judge_notify(const DoctorFacts& facts, Findings& findings);
/// What keeps dead rows from going.
void judge_vacuum(const DoctorFacts& facts, Findings& findings);
/// Claims, retention, generations, subscriptions, dead letters.
void judge_delivery(const DoctorFacts& facts, Findings& findings);
/// The file of an embedded store.
void judge_file(const DoctorFacts& facts, Findings& findings);

/// critical from `critical` on, warning from `warning` on, else ok.
template <class T>
Severity graded(T value, T warning, T critical) {
  if (value >= critical) return Severity::critical;
  return value >= warning ? Severity::warning : Severity::ok;
}

/// `45s`, `12m`, `3h`, `2d`: one unit, rounded down.
std::string roughly(Duration duration);
/// `72 MiB`, `1.5 GiB`
std::string bytes_text(std::int64_t bytes);
/// At most five of them, `a, b and 3 more`.
std::string enumerated(const std::vector<std::string>& items);
/// `pid 4711 (pg_dump, user backup, idle in transaction)`
std::string in_words(const store::ServerSession& session);
std::string terminate_sql(const store::ServerSession& session);

}  // namespace sluice::ops
