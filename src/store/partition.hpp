// Monthly partitions of the events by occurred_at: what there is, and the steps that make them of one table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/time.hpp>

namespace sluice::store {

struct Partition {
  std::string name;
  std::optional<Timestamp> since;  ///< none: no bound
  std::optional<Timestamp> until;
  bool is_default = false;  ///< holds what no other partition takes
  std::int64_t rows = 0;    ///< an estimate
  std::int64_t bytes = 0;   ///< with its indexes
  std::string note{};       ///< `held by pending events at …`: why it was not dropped; may be empty
};

struct PartitionLayout {
  bool partitioned = false;
  std::vector<Partition> partitions;  ///< oldest first, the default one last
  std::optional<Timestamp>
      boundary;            ///< of steps that were begun and not finished: what occurs from then on is refused
  bool validated = false;  ///< every event was found to lie before the boundary
  bool prepared = false;   ///< the tables that become partitions are there
};

/// The steps from one table to partitions. Each is one transaction or more that can be repeated; a kill leaves a step
/// done or not done.
enum class PartitionStep {
  constrain,  ///< what occurs from the boundary on is refused from now on; short lock
  validate,   ///< reads every event; blocks nobody
  prepare,    ///< makes the tables of the coming months; blocks nobody
  swap,       ///< the table becomes the oldest partition; short lock
};
inline constexpr std::array<std::string_view, 4> kPartitionSteps{"constrain", "validate", "prepare", "swap"};
constexpr std::string_view name(PartitionStep step) { return kPartitionSteps[static_cast<std::size_t>(step)]; }

struct PartitionRequest {
  PartitionStep step = PartitionStep::constrain;
  Timestamp boundary{};  ///< the beginning of a month, UTC: the first that gets a partition of its own
  int months = 3;        ///< how many get one
};

/// How many months ahead partitions are made.
inline constexpr int kMonthsAhead = 3;

/// What was done for the partitions.
struct PartitionChange {
  std::string action;  ///< created, dropped; abandoned: steps towards partitions that nobody had finished were undone
  std::string name;
  std::int64_t events =
      0;  ///< created: that many were taken out of the default one; dropped: an estimate of how many went
};

}  // namespace sluice::store
