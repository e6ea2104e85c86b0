// ListenerHealth: what a listening process does next, decided from what happened and the time. Pure.
//
//   listening     hears; looks by itself now and then, to be safe
//   reconnecting  the connection is lost; tries again after 1 s, 2 s, 4 s … 30 s, and polls meanwhile
//   polling       lost for longer than the longest wait; looks every 5 s until it hears again
//   deaf          connected, but a probe did not come back
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include <sluice/time.hpp>
#include "runtime/service.hpp"

namespace sluice::runtime {

enum class ListenerState { listening, reconnecting, polling, deaf };
std::string_view name(ListenerState state);

struct ListenerTimes {
  Duration poll = std::chrono::seconds{5};          ///< between looks while it does not hear
  Duration safety_poll = std::chrono::seconds{10};  ///< between looks while it does
  BackoffLimits reconnect{std::chrono::seconds{1}, std::chrono::seconds{30}};
  Duration probe_interval = std::chrono::seconds{10};
  Duration probe_deadline = std::chrono::seconds{5};  ///< a probe that is not back by then was not heard
};

class ListenerHealth {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  explicit ListenerHealth(const ListenerTimes& times, TimePoint now);

  [[nodiscard]] ListenerState state() const { return state_; }

  enum class Action {
    connect,  ///< open a connection, then say connected() or lost()
    probe,    ///< send a probe, then say probed()
    drop,     ///< the connection hears nothing: close it, then say lost()
    wait,     ///< nothing until `until`, unless something is heard
  };
  struct Step {
    Action action;
    TimePoint until{};
  };
  [[nodiscard]] Step next(TimePoint now) const;

  void connected(TimePoint now);
  void lost(TimePoint now);
  void probed(TimePoint now);
  void echoed();

  /// How long the workers may rest before they look by themselves.
  [[nodiscard]] Duration poll_interval() const;
  /// To be called as time passes: turns reconnecting into polling.
  void tick(TimePoint now);

 private:
  ListenerTimes times_;
  ListenerState state_ = ListenerState::reconnecting;
  Backoff backoff_;
  TimePoint lost_at_;
  TimePoint connect_at_;
  TimePoint probe_at_;
  std::optional<TimePoint> probe_sent_;
  bool connected_ = false;
};

}  // namespace sluice::runtime
