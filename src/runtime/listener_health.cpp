#include "runtime/listener_health.hpp"

#include <algorithm>

namespace sluice::runtime {

std::string_view name(ListenerState state) {
  switch (state) {
    case ListenerState::listening:
      return "listening";
    case ListenerState::reconnecting:
      return "reconnecting";
    case ListenerState::polling:
      return "polling";
    case ListenerState::deaf:
      return "deaf";
  }
  return "unknown";
}

ListenerHealth::ListenerHealth(const ListenerTimes& times, TimePoint now)
    : times_(times), backoff_(times.reconnect), lost_at_(now), connect_at_(now), probe_at_(now) {}

ListenerHealth::Step ListenerHealth::next(TimePoint now) const {
  if (!connected_) {
    if (now >= connect_at_) return {Action::connect};
    // Wakes also at the moment at which reconnecting becomes polling.
    const TimePoint cap = lost_at_ + times_.reconnect.cap;
    return {Action::wait,
            state_ == ListenerState::reconnecting && cap > now ? std::min(connect_at_, cap) : connect_at_};
  }
  if (probe_sent_) {
    const TimePoint deadline = *probe_sent_ + times_.probe_deadline;
    return now >= deadline ? Step{Action::drop} : Step{Action::wait, deadline};
  }
  return now >= probe_at_ ? Step{Action::probe} : Step{Action::wait, probe_at_};
}

void ListenerHealth::connected(TimePoint now) {
  connected_ = true;
  probe_sent_.reset();
  // Not believed before the first probe is back, but usable.
  if (state_ != ListenerState::deaf) state_ = ListenerState::listening;
  probe_at_ = state_ == ListenerState::deaf ? now : now + times_.probe_interval;
}

void ListenerHealth::lost(TimePoint now) {
  if (connected_ && probe_sent_ && now >= *probe_sent_ + times_.probe_deadline) {
    state_ = ListenerState::deaf;
  } else if (connected_ || state_ == ListenerState::listening) {
    state_ = ListenerState::reconnecting;
  }
  if (connected_) lost_at_ = now;
  connected_ = false;
  probe_sent_.reset();
  connect_at_ = now + backoff_.next();
  tick(now);
}

void ListenerHealth::probed(TimePoint now) { probe_sent_ = now; }

void ListenerHealth::echoed() {
  if (!probe_sent_) return;
  probe_at_ = *probe_sent_ + times_.probe_interval;
  probe_sent_.reset();
  backoff_.reset();
  state_ = ListenerState::listening;
}

Duration ListenerHealth::poll_interval() const {
  return state_ == ListenerState::listening ? times_.safety_poll : std::min(times_.poll, times_.safety_poll);
}

void ListenerHealth::tick(TimePoint now) {
  if (state_ == ListenerState::reconnecting && !connected_ && now - lost_at_ >= times_.reconnect.cap) {
    state_ = ListenerState::polling;
  }
}

}  // namespace sluice::runtime
