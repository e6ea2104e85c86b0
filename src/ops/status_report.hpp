// The state of a store at a glance: what waits, what runs, what failed, by generation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace sluice::ops {

struct GenerationStatus {
  Generation generation = 0;
  std::optional<GenerationState> state;  ///< none: events carry the number, but nobody allocated it
  std::int64_t pending = 0;
  std::int64_t waiting = 0;  ///< of pending: not yet due
  std::int64_t in_flight = 0;
  std::int64_t delivered = 0;
  std::int64_t failed = 0;
  std::optional<Timestamp> oldest_pending;
};

struct StatusReport {
  std::string store;
  store::SchemaVersion schema;
  Timestamp now{};
  Generation default_generation = kFirstGeneration;
  std::vector<GenerationStatus> generations;  ///< ascending
  std::int64_t discarded = 0;
};

Result<StatusReport> report_status(store::Store& store);

std::string to_json(const StatusReport& report);

}  // namespace sluice::ops
