// Orphans: events that a process of this machine held when it was killed. Their claims would run out by themselves;
// where it can be proved that the process is gone, whoever starts next need not wait for that.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <sluice/result.hpp>
#include "runtime/reaper.hpp"
#include "store/store.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

struct Machine {
  std::string identity;                           ///< of a process here; see worker_identity()
  std::function<bool(std::int64_t pid)> is_gone;  ///< true only when no process of this machine has the id
};

/// True only for a process of the same host, boot and process table whose id nobody has any more.
bool provably_gone(const std::string& identity, const Machine& machine);

/// Takes back what workers that are provably gone still hold, each claim counting as an expired one, and signs them
/// off. In the report `claimed` is how many events were found. Safe beside other processes that do the same.
Result<StepReport> take_back_orphans(store::Store& store, const Machine& machine, Reaper& reaper,
                                     const telemetry::Logger& logger);

}  // namespace sluice::runtime
