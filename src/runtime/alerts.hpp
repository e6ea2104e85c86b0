// Alerts: tells people about events that have failed. What delivers only puts a notice into a queue; the
// threads here throttle per fingerprint, look up what is missing, and send to each channel by itself, so
// that a receiver that hangs holds up neither delivery nor another receiver.
//
// Thread-safety: offer() and status() from any thread; the rest from the owner's.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "core/alert.hpp"
#include "runtime/alert_post.hpp"
#include "runtime/service.hpp"
#include "store/observe.hpp"

namespace sluice::runtime {

struct AlertsOptions {
  AlertThrottleOptions throttle;
  AlertPostOptions post;
  std::size_t queue_limit = 1000;                        ///< a full queue drops the newest
  Duration last_moment = std::chrono::seconds{3};        ///< what a stop leaves for sending the rest
  std::function<std::array<std::uint8_t, 10>()> random;  ///< for the ids of alerts; required
};

class Alerts {
 public:
  /// The store outlives the alerts. Nothing is sent before start().
  Alerts(std::vector<std::unique_ptr<alert::AlertChannel>> channels, store::Observing& store, telemetry::Logger logger,
         AlertsOptions options);
  ~Alerts();
  Alerts(const Alerts&) = delete;
  Alerts& operator=(const Alerts&) = delete;

  void start();

  /// Never waits for anything but a short lock.
  void offer(FailureNotice notice);

  /// Reports what was held back, gives the rest its last moment, and ends the threads. Returns at once when
  /// that was done before.
  void stop();

  [[nodiscard]] AlertStatus status() const;

  /// One round of the throttle: hands what passes to the channels and says when the next window closes;
  /// none: no window is open.
  std::optional<Duration> step();

 private:
  std::vector<FailureNotice> take();
  void pass_on(AlertThrottle::Passed passed);
  void look_up(FailureNotice& notice);
  void run_throttle(const std::stop_token& stop);
  void run_post(AlertPost& post);

  store::Observing& store_;
  telemetry::Logger logger_;
  AlertsOptions options_;
  AlertThrottle throttle_;
  UuidV7Sequence ids_;
  std::vector<std::unique_ptr<AlertPost>> posts_;
  WakeSignal offered_;
  WakeSignal passed_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<FailureNotice> queue_;
  std::int64_t dropped_ = 0;
  std::int64_t suppressed_ = 0;
  bool finishing_ = false;
  int posting_ = 0;           // threads of posts that have not ended
  std::stop_source abandon_;  // asked for when the last moment is over
  std::vector<std::jthread> posters_;
  std::jthread throttler_;  // last: it uses everything above
};

}  // namespace sluice::runtime
