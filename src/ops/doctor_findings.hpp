// What the judgements of the doctor work with: the facts, and the findings that they make of them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/ladder.hpp"
#include "ops/dead_letters.hpp"
#include "ops/doctor.hpp"
#include "ops/generations.hpp"
#include "ops/relay.hpp"

namespace sluice::ops {

/// Whether a listener that was opened from here heard its own note.
struct Hearing {
  bool heard = false;
  std::string obstacle;  ///< what stands between, as far as it is known
};

/// A member is empty when it was not looked at; `unseen` says why, unless the store has no such thing.
struct DoctorFacts {
  std::string store;
  RetentionPolicies retention;
  DeadLetterLevels dead_letter_levels{};
  std::optional<store::SchemaVersion> schema;
  std::vector<std::string> schema_damage;
  store::Diagnosis diagnosis;
  std::optional<Timestamp> now;         ///< the store's
  std::optional<Duration> clock_ahead;  ///< the store's clock against ours
  std::optional<store::DoorbellMode> doorbell;
  std::optional<Hearing> hearing;
  std::optional<GenerationSurvey> survey;
  std::optional<std::vector<store::SinkRecord>> stopped_sinks;
  std::set<Generation> missing_generations;  ///< with events, though nobody could ever claim them
  std::optional<std::vector<store::UnsubscribedCount>> unsubscribed;
  std::optional<std::vector<store::SubscriptionRecord>> subscriptions;
  std::optional<std::vector<store::OverdueEvent>> overdue;  ///< at most kOverdueLook, the longest due first
  std::optional<LadderVerdict> ladder;
  std::optional<DeadTally> dead_letters;  ///< at most kDeadLook
  std::optional<RelayView> relay;         ///< none: off, and no broker is configured
  RelaySettings relay_settings{};
  std::vector<store::Unseen> unseen;
};
inline constexpr std::int64_t kDeadLook = 10'000;
inline constexpr int kOverdueLook = 20;
/// An event that live workers leave alone for longer is late.
inline constexpr Duration kDeliveryPatience = std::chrono::minutes{5};

/// An error when nothing at all could be seen.
Result<DoctorFacts> gather_facts(store::Administering& store, const DoctorOptions& options);

/// Pure: the same facts, the same findings. The most severe first.
std::vector<Finding> findings_of(const DoctorFacts& facts);

// From facts to findings, a function per theme. Each says what it looked at, also when all is well.

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
void judge_partitions(const DoctorFacts& facts, Findings& findings);
/// Whether one table is still enough.
void judge_growth(const DoctorFacts& facts, Findings& findings);
/// Claims, retention, generations, subscriptions, dead letters.
void judge_delivery(const DoctorFacts& facts, Findings& findings);
/// The broker, where one is configured or the relay is on.
void judge_broker(const DoctorFacts& facts, Findings& findings);
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
