// Worker processes: who is there, and who has fallen silent.
#pragma once

#include <string>
#include <vector>

#include "store/store.hpp"

namespace sluice::ops {

/// Workers give a sign of life every few seconds; one that was silent for longer counts as gone.
inline constexpr Duration kAliveWithin = std::chrono::seconds{30};

struct WorkerList {
  Timestamp now{};
  std::vector<store::WorkerRecord> workers;  ///< of the last day, by identity
};
Result<WorkerList> list_workers(store::Store& store);

/// Those that are alive.
Result<std::vector<store::WorkerRecord>> live_workers(store::Registering& store);

[[nodiscard]] bool is_alive(const store::WorkerRecord& worker, Timestamp now);
/// Whether its listener hears; the other states cost latency.
[[nodiscard]] bool is_listening(const store::WorkerRecord& worker);

std::string to_json(const store::WorkerRecord& worker, Timestamp now);

}  // namespace sluice::ops
