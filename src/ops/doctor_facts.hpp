// What the doctor judges: everything that was seen, gathered before anything is decided.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ops/dead_letters.hpp"
#include "ops/doctor.hpp"
#include "ops/generations_status.hpp"

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
  std::optional<DeadTally> dead_letters;                    ///< at most kDeadLook
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

}  // namespace sluice::ops
