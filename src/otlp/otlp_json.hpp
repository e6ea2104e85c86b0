// Spans, metrics and lines of the log as OTLP/HTTP wants them: the JSON mapping of protobuf, with ids in hexadecimal.
// Pure.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sluice/time.hpp>
#include "otlp/export_queue.hpp"
#include "telemetry/metrics.hpp"

namespace sluice::otlp {

/// Who sends.
struct Sender {
  std::vector<std::pair<std::string, std::string>> resource;  ///< `service.name` and the like
  std::string version;                                        ///< of Sluice, as the scope has it
};

/// The body of POST /v1/traces.
std::string traces_json(std::span<const SpanRecord> spans, const Sender& sender);

/// The body of POST /v1/logs: the message is the body of a record, its fields are attributes under their own names.
std::string logs_json(std::span<const LogEntry> entries, const Sender& sender);

struct MetricTimes {
  Timestamp since{};  ///< when counting began
  Timestamp now{};
};

/// The body of POST /v1/metrics: the families of the registry under their names, without the `_total` that Prometheus
/// adds to counters. Counters and histograms are cumulative.
std::string metrics_json(const telemetry::Registry& registry, const MetricTimes& times, const Sender& sender);

/// What the answer to any of them says of what was not taken; none: all was.
struct Rejected {
  std::int64_t count = 0;
  std::string message;
};
Rejected rejected_of(std::string_view answer);

}  // namespace sluice::otlp
