// Alerts: what one says, and which failures are worth one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sluice/time.hpp>
#include <sluice/uuid.hpp>
#include "core/generation.hpp"

namespace sluice {

// What an alert says: an event has failed and will not be tried again by itself.

/// One event that was settled to failed. Its payload is not part of it: alerts leave the house.
struct FailureNotice {
  Uuid event_id;
  std::string event_type;  ///< empty: only the id is known, and the row tells the rest
  std::string source;
  std::optional<std::string> target;
  std::optional<Uuid> workspace_id;
  Generation generation = 0;
  std::string handler_name;  ///< empty: no handler of this process failed it; its claim ran out
  std::string error_class;
  std::string fingerprint;
  std::string last_error;
  int attempts = 0;
  std::optional<std::string> trace_context;  ///< W3C traceparent
  std::optional<Timestamp> failed_at;        ///< none: when it was reported
};

/// What is sent. Every alert stands for `1 + suppressed` failures.
struct Alert {
  Uuid alert_id;  ///< the same in every attempt to send it, so that a receiver can tell a repetition
  FailureNotice failure;
  std::int64_t suppressed = 0;  ///< further failures of the group that got no alert of their own
};

// AlertThrottle: which failures are worth an alert now. Pure; the caller owns the clock.
//
// The first failure of a fingerprint passes and opens a window. Until it closes the others are held back;
// when it closes, the latest of them passes with the number of the rest, and the next window opens.
//
// Thread-safety: none.

struct AlertThrottleOptions {
  Duration window = std::chrono::minutes{5};
  /// More fingerprints than this at once share one window, so that neither memory nor the rate of alerts
  /// grows with the variety of errors.
  std::size_t most_windows = 500;
};

class AlertThrottle {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// A failure that passes, and how many are reported with it.
  struct Passed {
    FailureNotice failure;
    std::int64_t suppressed = 0;
  };

  explicit AlertThrottle(AlertThrottleOptions options);

  /// None: held back.
  std::optional<Passed> offer(FailureNotice failure, TimePoint now);

  /// Closes the windows whose time is over.
  std::vector<Passed> close(TimePoint now);

  /// Closes every window at once: before a stop.
  std::vector<Passed> close_all();

  [[nodiscard]] std::optional<TimePoint> next_close() const;
  /// How many have been held back since the start.
  [[nodiscard]] std::int64_t held_back() const { return held_back_; }

 private:
  struct Window {
    TimePoint closes;
    std::optional<FailureNotice> latest;
    std::int64_t held = 0;
  };
  std::map<std::string, Window, std::less<>>::iterator window_of(const std::string& fingerprint);
  static std::optional<Passed> summary(Window& window);

  AlertThrottleOptions options_;
  std::map<std::string, Window, std::less<>> windows_;
  std::int64_t held_back_ = 0;
};

}  // namespace sluice
