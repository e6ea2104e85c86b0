// Exporting: what sends traces, metrics and the log to a collector. The seam between those who have them and the
// protocol.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include <sluice/time.hpp>
#include <sluice/tracer.hpp>
#include "telemetry/log.hpp"
#include "telemetry/metrics.hpp"

namespace sluice::telemetry {

/// Of spans, or of lines of the log.
struct ExportCounts {
  std::int64_t exported = 0;
  std::int64_t dropped = 0;  ///< no room for them, or the collector did not take them
  std::int64_t queued = 0;
};

/// Thread-safety: everything but stop() from any thread.
class Exporting {
 public:
  Exporting() = default;
  virtual ~Exporting() = default;
  Exporting(const Exporting&) = delete;
  Exporting& operator=(const Exporting&) = delete;

  /// None: traces are not exported. Valid as long as this is, also after stop().
  [[nodiscard]] virtual Tracer* tracer() = 0;
  [[nodiscard]] virtual ExportCounts span_counts() const = 0;

  /// None: the log is not exported. May outlive this; what it is given after stop() is not sent.
  [[nodiscard]] virtual std::shared_ptr<const LogTap> log_tap() const = 0;
  [[nodiscard]] virtual ExportCounts log_counts() const = 0;

  [[nodiscard]] virtual bool exports_metrics() const = 0;
  /// Sends them as they are now; how long to rest before the next time. What fails is logged.
  virtual Duration send_metrics(const Registry& registry, const std::stop_token& stop) = 0;

  /// Sends what waits, within a moment. Returns at once when that was done before.
  virtual void stop() = 0;
};

}  // namespace sluice::telemetry
