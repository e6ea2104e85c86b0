// What a round of a worker or reaper did.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace sluice::runtime {

/// Events are counted when their batch is settled.
struct StepReport {
  std::int64_t claimed = 0;
  std::int64_t delivered = 0;
  std::int64_t retried = 0;
  std::int64_t failed = 0;
  std::int64_t released = 0;      ///< deferred by the sink, or given back
  std::int64_t fenced = 0;        ///< the claim was lost before the settle
  std::int64_t deduplicated = 0;  ///< of delivered: acknowledged without running the handler
  std::map<std::string, std::int64_t, std::less<>> failures_by_class;  ///< failed runs of handlers

  StepReport& operator+=(const StepReport& other) {
    claimed += other.claimed;
    delivered += other.delivered;
    retried += other.retried;
    failed += other.failed;
    released += other.released;
    fenced += other.fenced;
    deduplicated += other.deduplicated;
    for (const auto& [error_class, count] : other.failures_by_class) failures_by_class[error_class] += count;
    return *this;
  }
};

}  // namespace sluice::runtime
