// Traces, metrics and the log over OTLP/HTTP as JSON, from threads of its own: whoever delivers never waits for a
// collector.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/trace_context.hpp"
#include "otlp/otlp_json.hpp"
#include "telemetry/exporting.hpp"
#include "telemetry/log.hpp"

namespace sluice::otlp {

// Which spans are recorded. Pure.

/// The samplers of OTEL_TRACES_SAMPLER: `parentbased_always_on` is {true, 1}, `always_off` is {false, 0}.
struct SamplerRules {
  bool by_parent = true;  ///< whoever began the trace has decided for all of it
  double ratio = 1;       ///< of the traces that begin here, and of all spans where no parent decides; 0 to 1
};

class Sampler {
 public:
  explicit Sampler(SamplerRules rules);

  /// `parent`: whether it was sampled; none: the trace begins here. `trace_low` as in TraceContext: the same trace gets
  /// the same answer in every process with this ratio.
  [[nodiscard]] bool samples(std::optional<bool> parent, std::uint64_t trace_low) const;

 private:
  bool by_parent_;
  std::uint64_t threshold_;  // of the lower 56 bits: what is at least so much is recorded
};

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
