// What a listener has been through, and how it reports that into the metrics.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/listener_health.hpp"
#include "telemetry/metrics_set.hpp"

namespace sluice::runtime {

struct ListenerCounts {
  std::int64_t rings = 0;     ///< heard
  std::int64_t connects = 0;  ///< ears opened
  std::int64_t losses = 0;    ///< connections that broke or could not be opened
  std::int64_t deaf = 0;      ///< ears that did not hear a probe
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

}  // namespace sluice::runtime
