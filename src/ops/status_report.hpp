// The state of a store at a glance: what waits, what runs, what failed, who works, what nobody wants.
#pragma once

#include <string>
#include <vector>

#include "ops/dead_letters.hpp"
#include "ops/generations.hpp"

namespace sluice::ops {

struct StatusReport {
  std::string store;
  store::SchemaVersion schema;
  Timestamp now{};
  Generation default_generation = kFirstGeneration;
  std::vector<GenerationStatus> generations;  ///< ascending
  std::int64_t discarded = 0;
  bool discarded_estimated = false;
  DeadTally dead_letters;
  std::vector<store::WorkerRecord> workers;  ///< that are alive
  std::vector<store::SinkRecord> sinks;      ///< by name
  /// Pending events that nobody subscribes to, the most numerous first.
  std::vector<store::UnsubscribedCount> unsubscribed;
};

Result<StatusReport> report_status(store::Administering& store);

std::string to_json(const StatusReport& report);

}  // namespace sluice::ops
