// Traces, metrics and the log over OTLP/HTTP as JSON, from threads of its own: whoever delivers never waits for a
// collector.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "otlp/otlp_json.hpp"
#include "otlp/sampler.hpp"
#include "telemetry/exporting.hpp"
#include "telemetry/log.hpp"

namespace sluice::otlp {

struct OtlpOptions {
  std::string traces_url;            ///< empty: no traces
  std::string metrics_url;           ///< empty: no metrics
  std::string logs_url;              ///< empty: the log is not sent
  std::vector<std::string> headers;  ///< complete lines that go with every request
  Duration timeout = std::chrono::seconds{10};
  bool gzip = false;
  Sender sender;
  SamplerRules sampler;
  Duration metric_interval = std::chrono::seconds{30};
  std::size_t queue_limit = 8192;                  ///< spans that wait, and lines of the log; more are dropped
  std::size_t batch = 512;                         ///< of them in one request
  Duration last_moment = std::chrono::seconds{2};  ///< what a stop leaves for sending the rest
};

/// Runs when it returns. `logger` is told when something is not exported; it has no tap of what is opened here.
std::unique_ptr<telemetry::Exporting> open_otlp(OtlpOptions options, const telemetry::Logger& logger);

}  // namespace sluice::otlp
