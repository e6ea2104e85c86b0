// Listener: keeps an ear on the store and wakes the workers when something is heard.
//
// It obeys ListenerHealth: connects, reconnects, probes, gives up a deaf ear. Whatever happens to it, the
// workers look by themselves after look_interval().
//
// Thread-safety: run() on one thread; the rest from any.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "runtime/doorbell.hpp"
#include "runtime/listener_health.hpp"
#include "runtime/listener_observer.hpp"
#include "store/observe.hpp"
#include "telemetry/log.hpp"

namespace sluice::runtime {

struct ListenerOptions {
  std::vector<std::string> channels;  ///< of the own generation
  ListenerTimes times;
  telemetry::MetricSet* metrics = nullptr;  ///< none: nothing is measured
};

class Listener {
 public:
  /// The store and the doorbell outlive the listener.
  Listener(store::Observing& store, Doorbell& workers, telemetry::Logger logger, ListenerOptions options);

  /// Until a stop is asked for.
  void run(const std::stop_token& stop);

  /// How many workers are busy has changed to or from none.
  void attend(bool busy);
  /// There is more to do than this process can: wakes other processes, at most ten times a second.
  void wake_others();

  [[nodiscard]] ListenerState state() const { return state_; }
  [[nodiscard]] Duration look_interval() const { return Duration{look_interval_}; }
  [[nodiscard]] ListenerCounts counts() const;

 private:
  using TimePoint = ListenerHealth::TimePoint;
  void obey(const ListenerHealth::Step& step, ListenerHealth& health, const std::stop_token& stop);
  void connect(ListenerHealth& health);
  void probe(ListenerHealth& health);
  void hear(ListenerHealth& health, Duration at_most);
  void drop(ListenerHealth& health, bool deaf);
  void publish(const ListenerHealth& health);
  std::shared_ptr<store::ListenerConnection> ear() const;
  void set_ear(std::shared_ptr<store::ListenerConnection> ear);

  store::Observing& store_;
  Doorbell& workers_;
  telemetry::Logger logger_;
  ListenerOptions options_;
  ListenerObserver observer_;
  Doorbell rest_;  // never rung: rests between two attempts to connect
  mutable std::mutex mutex_;
  std::shared_ptr<store::ListenerConnection> ear_;
  bool busy_ = false;
  TimePoint woke_others_{};
  std::atomic<ListenerState> state_ = ListenerState::reconnecting;
  std::atomic<Duration::rep> look_interval_;
  std::atomic<std::int64_t> rings_ = 0;
  std::atomic<std::int64_t> connects_ = 0;
  std::atomic<std::int64_t> losses_ = 0;
  std::atomic<std::int64_t> deaf_ = 0;
};

}  // namespace sluice::runtime
