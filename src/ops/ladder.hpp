// `sluice ladder status`: how near the store is to its limits, and which step is due.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/ladder.hpp"
#include "store/administer.hpp"
#include "store/observe.hpp"

namespace sluice::ops {

struct LadderReport {
  std::string store;
  Timestamp now{};
  LadderStage stage;
  LadderVerdict verdict;
};

Result<LadderReport> report_ladder(store::Observing& store);

/// Where the store stands, from a diagnosis of it and its relay's switch.
LadderStage stage_of(const store::Diagnosis& diagnosis, const store::Capabilities& capabilities,
                     const store::RelaySwitch& relay);
/// `embedded`, `one_table`, `partitioned`, `relayed`: the highest step that was taken.
std::string_view name(const LadderStage& stage);

/// For people: `5.2M rows`, `0.31 s`, `12 %`; `-` where nothing was measured.
std::string value_text(const LadderTrigger& trigger);
std::string threshold_text(const LadderTrigger& trigger);

std::string to_json(const LadderReport& report);

// The first step of the ladder: from one table of events to monthly partitions, while publishers and workers go on.

struct PartitionOrder {
  std::optional<Timestamp> boundary;  ///< the first month with a partition of its own; none: boundary_after(now)
  store::Actor actor;
  int tries = 50;  ///< for each step that needs the table for itself
};

/// What the steps say meanwhile. `wait` rests between two tries; false ends it there.
struct PartitionVoice {
  std::function<void(const std::string& sentence)> say;
  std::function<bool(Duration)> wait;
};

struct PartitionReport {
  bool already = false;      ///< there was nothing to do
  bool interrupted = false;  ///< run it again to go on
  Timestamp boundary{};
  std::vector<store::PartitionStep> taken;  ///< by this run
  Duration longest_lock{};                  ///< that a step held the table for, as seen from here
};

/// The first beginning of a month that lies at least a week ahead: publishers whose clocks are ahead are not refused.
Timestamp boundary_after(Timestamp now);
/// `2026-12` as the beginning of that month, UTC.
Result<Timestamp> parse_month(std::string_view text, const std::string& field);
std::string month_text(Timestamp at);

/// Refuses, with one sentence, where the store has no partitions to offer or something of the table cannot go along.
/// Takes the steps that are left. Killed or interrupted at any place it is run again.
Result<PartitionReport> partition_events(store::Administering& store, const PartitionOrder& order,
                                         const PartitionVoice& voice);

struct PlannedStep {
  store::PartitionStep step;
  std::vector<std::string> sql;
};
/// The statements that are left to run; none: it is partitioned. Changes nothing. The same refusals.
Result<std::vector<PlannedStep>> plan_partition(store::Administering& store, const PartitionOrder& order);

/// Undoes the steps before the swap; a conflict after it.
Result<void> abandon_partition(store::Administering& store, const store::Actor& actor);

std::string to_json(const PartitionReport& report);
std::string to_json(const std::vector<PlannedStep>& plan);
std::string to_json(const store::Partition& partition);

}  // namespace sluice::ops
