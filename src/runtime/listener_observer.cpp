#include "runtime/listener_observer.hpp"

#include <algorithm>
#include <string>

namespace sluice::runtime {
namespace {

void add(telemetry::Family<telemetry::Counter>& counter, std::int64_t before, std::int64_t now) {
  if (now > before) counter->add(static_cast<std::uint64_t>(now - before));
}

// The first ear is no reconnect.
std::int64_t reconnects(const ListenerCounts& counts) { return std::max<std::int64_t>(counts.connects - 1, 0); }

}  // namespace

void ListenerObserver::saw(ListenerState state, const ListenerCounts& counts) {
  if (metrics_ == nullptr) return;
  telemetry::ListenerMetrics& listener = metrics_->listener;
  add(listener.notifications, counts_.rings, counts.rings);
  add(listener.reconnects, reconnects(counts_), reconnects(counts));
  add(listener.losses, counts_.losses, counts.losses);
  add(listener.deaf, counts_.deaf, counts.deaf);
  counts_ = counts;
  if (state_ == state) return;
  state_ = state;
  using enum ListenerState;
  for (const ListenerState each : {listening, reconnecting, polling, deaf}) {
    listener.state.with({std::string{name(each)}}).set(each == state ? 1 : 0);
  }
}

}  // namespace sluice::runtime
