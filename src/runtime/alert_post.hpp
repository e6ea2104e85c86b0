// AlertPost: one alert channel with its queue. Sends in order, tries again after a failure, stays silent as
// long as the receiver asked for, and gives up what cannot be sent.
//
// Thread-safety: one thread steps; the rest may be called from any.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <sluice/time.hpp>
#include "alert/alert_channel.hpp"
#include "runtime/service.hpp"
#include "telemetry/log.hpp"

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

/// For what is measured, and for what is written down.
struct AlertClocks {
  std::function<std::chrono::steady_clock::time_point()> steady;  ///< default: std::chrono::steady_clock
  std::function<Timestamp()> wall;                                ///< default: std::chrono::system_clock
  static AlertClocks system();
};

struct AlertPostOptions {
  std::size_t queue_limit = 100;                    ///< a full queue drops the newest
  int attempts = 5;                                 ///< of one alert
  BackoffLimits backoff;                            ///< between two of them
  Duration log_interval = std::chrono::minutes{1};  ///< between two lines about a receiver that is away
  AlertClocks clocks = AlertClocks::system();
};

class AlertPost {
 public:
  AlertPost(std::unique_ptr<alert::AlertChannel> channel, telemetry::Logger logger, AlertPostOptions options);

  void add(Alert alert);

  /// Sends what may be sent now and says how long to rest; none: until something is added.
  std::optional<Duration> step(const std::stop_token& stop);

  /// Drops what is still queued.
  void give_up();

  [[nodiscard]] bool empty() const;
  [[nodiscard]] AlertChannelStatus status() const;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  std::optional<Alert> first() const;
  void taken();
  void refused(const Error& error);
  void hush(Duration silence);
  void complain(const Error& error, bool given_up);

  std::unique_ptr<alert::AlertChannel> channel_;
  telemetry::Logger logger_;
  AlertPostOptions options_;
  Backoff backoff_;
  int attempts_ = 0;  // of the first in the queue
  TimePoint not_before_{};
  std::optional<TimePoint> complained_;
  mutable std::mutex mutex_;  // for what follows
  std::deque<Alert> queue_;
  AlertChannelStatus status_;
};

}  // namespace sluice::runtime
