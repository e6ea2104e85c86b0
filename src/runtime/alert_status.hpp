// How alerting fares: counters since the start, for metrics and diagnosis.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sluice/time.hpp>

namespace sluice::runtime {

struct AlertChannelStatus {
  std::string name;          ///< `sentry`, `webhook`
  std::int64_t sent = 0;     ///< alerts that the receiver took
  std::int64_t failed = 0;   ///< calls that it did not take
  std::int64_t dropped = 0;  ///< alerts that were given up
  std::int64_t queued = 0;   ///< alerts that wait, now
  std::string last_error;    ///< of the latest failed call; empty: none failed
  std::optional<Timestamp> last_error_at;
};

struct AlertStatus {
  std::int64_t queued = 0;      ///< failures that nobody has looked at yet, now
  std::int64_t dropped = 0;     ///< failures that found the queue full
  std::int64_t suppressed = 0;  ///< failures held back by the throttle
  std::vector<AlertChannelStatus> channels;
};

}  // namespace sluice::runtime
