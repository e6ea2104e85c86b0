// A line of the log on its way to a collector.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sluice/time.hpp>
#include "otlp/export_queue.hpp"
#include "telemetry/log.hpp"

namespace sluice::otlp {

struct LogEntry {
  Timestamp at{};
  telemetry::Level level = telemetry::Level::info;
  std::string message;
  std::vector<std::pair<std::string, telemetry::LogField::Value>> fields;  ///< none is null
  std::string trace_id;                                                    ///< empty: none
  std::string span_id;                                                     ///< empty: none
};

/// A copy of the record, its texts cut after kMostBytes, what is null left out.
LogEntry entry_of(const telemetry::LogRecord& record);

using LogQueue = ExportQueue<LogEntry>;

}  // namespace sluice::otlp
