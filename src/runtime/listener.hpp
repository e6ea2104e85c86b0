// Listener: hears what the store tells of, on a connection of its own, and passes it on to the notifier. One per
// process.
//
// It obeys ListenerHealth: connects, reconnects, probes, gives up a deaf connection. Whatever happens to it, the
// workers claim by themselves after poll_interval().
//
// Thread-safety: run() on one thread; the rest from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "runtime/listener_health.hpp"
#include "runtime/notifier.hpp"
#include "runtime/service.hpp"
#include "store/observe.hpp"
#include "telemetry/log.hpp"
#include "telemetry/metrics_set.hpp"

namespace sluice::runtime {

struct ListenerCounts {
  std::int64_t notifications = 0;  ///< heard
  std::int64_t connects = 0;       ///< connections opened
  std::int64_t losses = 0;         ///< connections that broke or could not be opened
  std::int64_t deaf = 0;           ///< connections that did not hear a probe
};

/// Without a MetricSet nothing is reported.
///
/// Thread-safety: none; belongs to one listener.
class ListenerObserver {
 public:
  explicit ListenerObserver(telemetry::MetricSet* metrics) : metrics_(metrics) {}

  void saw(ListenerState state, const ListenerCounts& counts);

 private:
  telemetry::MetricSet* metrics_;
  std::optional<ListenerState> state_;
  ListenerCounts counts_;
};

struct ListenerOptions {
  std::vector<std::string> channels;  ///< of the own generation
  ListenerTimes times;
  telemetry::MetricSet* metrics = nullptr;  ///< none: nothing is measured
  std::function<void()> changed{};          ///< called after each change of its state
};

class Listener {
 public:
  /// The store and the notifier outlive the listener.
  Listener(store::Observing& store, Notifier& notifier, telemetry::Logger logger, ListenerOptions options);

  /// Until a stop is asked for.
  void run(const std::stop_token& stop);

  /// Whether every pool has found work, so that nobody has to be woken.
  void attend(bool busy);
  /// There is more to do than this process can: wakes other processes, at most ten times a second.
  void wake_others();

  [[nodiscard]] ListenerState state() const { return state_; }
  /// It has neither connected nor failed to yet.
  [[nodiscard]] bool starting() const { return starting_; }
  [[nodiscard]] Duration poll_interval() const { return Duration{poll_interval_}; }
  [[nodiscard]] ListenerCounts counts() const;

 private:
  using TimePoint = ListenerHealth::TimePoint;
  void obey(const ListenerHealth::Step& step, ListenerHealth& health, const std::stop_token& stop);
  void connect(ListenerHealth& health);
  void probe(ListenerHealth& health);
  void hear(ListenerHealth& health, Duration at_most);
  void drop(ListenerHealth& health, bool deaf);
  void publish(const ListenerHealth& health);
  std::shared_ptr<store::ListenerConnection> connection() const;
  void set_connection(std::shared_ptr<store::ListenerConnection> connection);

  store::Observing& store_;
  Notifier& notifier_;
  telemetry::Logger logger_;
  ListenerOptions options_;
  ListenerObserver observer_;
  WakeSignal rest_;  // never woken: rests between two attempts to connect
  mutable std::mutex mutex_;
  std::shared_ptr<store::ListenerConnection> connection_;
  bool busy_ = false;
  TimePoint woke_others_{};
  std::atomic<ListenerState> state_ = ListenerState::reconnecting;
  std::atomic<bool> starting_ = true;
  std::atomic<Duration::rep> poll_interval_;
  std::atomic<std::int64_t> notifications_ = 0;
  std::atomic<std::int64_t> connects_ = 0;
  std::atomic<std::int64_t> losses_ = 0;
  std::atomic<std::int64_t> deaf_ = 0;
};

}  // namespace sluice::runtime
