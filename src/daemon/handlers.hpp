// From what the configuration declares to the handlers of the runtime.
#pragma once

#include <memory>
#include <string>

#include "config/config.hpp"
#include "daemon/sink_board.hpp"
#include "runtime/handler_set.hpp"
#include "sink/sink.hpp"
#include "telemetry/metrics_set.hpp"

namespace sluice::daemon {

/// Where deliveries go, and who is told of them; metrics and board outlive the handler.
struct Outlet {
  std::string name;  ///< of the sink
  std::shared_ptr<sink::Sink> sink;
  telemetry::MetricSet& metrics;
  SinkBoard& board;
};

/// A handler that delivers to the sink, at no more than the subscription's own rate.
runtime::RegisteredHandler handler_of(const config::SubscriptionConfig& subscription, Outlet outlet);

/// Every event, whatever its target, to the log.
runtime::RegisteredHandler log_everything(Outlet log, const RetryPolicy& retry);

}  // namespace sluice::daemon
