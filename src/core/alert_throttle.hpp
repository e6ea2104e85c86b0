// AlertThrottle: which failures are worth an alert now. Pure; the caller owns the clock.
//
// The first failure of a fingerprint passes and opens a window. Until it closes the others are held back;
// when it closes, the latest of them passes with the number of the rest, and the next window opens.
//
// Thread-safety: none.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/alert.hpp"

namespace sluice {

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
